// Builds what a user's machine needs no node for: the anywidget bundle and the JupyterLab extension.
// It must not install anything; `labextension/build.py` does, and calls it.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const common = {
  absWorkingDir: here,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
  charset: 'utf8'
};

// Drawn by any front end that knows anywidget.
const widget = resolve(here, '../agent_magic/view/static');
rmSync(widget, { recursive: true, force: true });
const run = await build({
  ...common,
  minify: true,
  metafile: true,
  entryPoints: { run: 'src/entry.ts' },
  outdir: widget
});
await build({
  ...common,
  minify: true,
  entryPoints: { run: 'style/index.css' },
  outdir: widget
});

// What is bundled of others comes with their licenses; JupyterLab's builder sees nothing of it.
const packages = new Set(
  Object.keys(run.metafile.inputs).flatMap(file => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
);
writeFileSync(
  resolve(widget, 'third-party-licenses.txt'),
  [...packages]
    .sort()
    .map(name => {
      const folder = resolve(here, 'node_modules', name);
      const { version } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8'));
      return `${name} ${version}\n\n${readFileSync(resolve(folder, 'LICENSE'), 'utf8').trim()}\n`;
    })
    .join('\n\n')
);

// The same sources, drawn by our extension; `splitting` lets its two entries share one bridge.
rmSync(resolve(here, 'lib'), { recursive: true, force: true });
await build({
  ...common,
  splitting: true,
  entryPoints: ['src/index.ts', 'src/mime.ts'],
  external: ['@jupyterlab/*', '@lumino/*'],
  outdir: 'lib'
});
const built = spawnSync(
  process.execPath,
  [
    require.resolve('@jupyter/builder/lib/build-labextension.js'),
    '--core-package-file',
    require.resolve('@jupyterlab/core-meta/core.package.json'),
    here
  ],
  { cwd: here, encoding: 'utf8' }
);
if (built.status !== 0) {
  process.stderr.write(built.stdout + built.stderr);
  process.exit(1);
}
