// Builds what a user's machine needs no node for: the anywidget bundle and the JupyterLab extension.
// It must not install anything; `labextension/build.py` does, and calls it.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
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
await build({
  ...common,
  minify: true,
  entryPoints: { run: 'src/entry.ts' },
  outdir: widget
});
await build({
  ...common,
  minify: true,
  entryPoints: { run: 'style/index.css' },
  outdir: widget
});

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
