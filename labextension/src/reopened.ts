/**
 * Notebooks that are opened while, or after, a run went on that they were saved or closed in the middle of.
 *
 * What they hold of it is a widget whose messages no page takes any more. It is taken out, so that the
 * record beside it is drawn, which finds the run again. It must not draw, nor ask the kernel.
 */
import type { JupyterFrontEnd } from '@jupyterlab/application';

import { RUN_MIME } from './protocol';
import { isObject } from './steps/reading';

const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';

/** The outputs of a cell, as JupyterLab has them. */
interface IOutputs {
  readonly length: number;
  get(at: number): { toJSON(): unknown };
  set(at: number, output: object): void;
}

interface INotebookPanel {
  context: { ready: Promise<void>; model: { cells: Iterable<{ outputs?: IOutputs }> } };
}

/** Look at each notebook once, when it has been read from its file. */
export function mendReopened(shell: JupyterFrontEnd.IShell): void {
  const seen = new WeakSet();
  const look = (): void => {
    for (const widget of shell.widgets('main')) {
      const { context } = widget as unknown as Partial<INotebookPanel>;
      if (context && !seen.has(context)) {
        seen.add(context);
        void context.ready.then(() => {
          mend(context.model.cells);
        });
      }
    }
  };
  shell.currentChanged?.connect(look);
  look();
}

function mend(cells: Iterable<{ outputs?: IOutputs }> | undefined): void {
  for (const { outputs } of cells ?? []) {
    for (let at = 0; at < (outputs?.length ?? 0); at++) {
      const output = outputs?.get(at).toJSON();
      const data = isObject(output) ? output.data : null;
      const record = isObject(data) ? data[RUN_MIME] : null;
      if (isObject(output) && isObject(data) && WIDGET_MIME in data && isObject(record) && record.status === 'running') {
        const { [WIDGET_MIME]: _dead, ...rest } = data;
        outputs?.set(at, { ...output, data: rest });
      }
    }
  }
}
