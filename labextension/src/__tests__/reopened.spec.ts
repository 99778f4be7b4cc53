import type { JupyterFrontEnd } from '@jupyterlab/application';
import { describe, expect, it } from 'vitest';

import { RUN_MIME } from '../protocol';
import { mendReopened } from '../reopened';

const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';

class Outputs {
  constructor(readonly given: object[]) {}

  get length(): number {
    return this.given.length;
  }

  get(at: number): { toJSON(): unknown } {
    return { toJSON: () => this.given[at] };
  }

  set(at: number, output: object): void {
    this.given[at] = output;
  }
}

function outputOf(data: { [mime: string]: unknown }): object {
  return { output_type: 'display_data', metadata: { kept: 1 }, data };
}

async function opened(...given: object[]): Promise<object[]> {
  const outputs = new Outputs(given);
  const context = { ready: Promise.resolve(), model: { cells: [{}, { outputs }] } };
  mendReopened({ widgets: () => [{}, { context }].values() } as unknown as JupyterFrontEnd.IShell);
  await context.ready;
  return outputs.given;
}

describe('a notebook that is opened', () => {
  it('loses the widget of a run that went on when it was saved, and nothing else', async () => {
    const record = { run_id: 'r1', status: 'running' };
    const mended = await opened(outputOf({ [WIDGET_MIME]: { model_id: 'm' }, [RUN_MIME]: record, 'text/plain': 'r' }));
    expect(mended).toEqual([outputOf({ [RUN_MIME]: record, 'text/plain': 'r' })]);
  });

  it.each([
    ['a widget that stayed when its run ended', { [WIDGET_MIME]: {}, [RUN_MIME]: { status: 'answered' } }],
    ['a widget of somebody else', { [WIDGET_MIME]: {}, 'text/plain': 'IntSlider' }],
    ['a run', { [RUN_MIME]: { status: 'running' } }],
    ['a record that is none', { [WIDGET_MIME]: {}, [RUN_MIME]: 'running' }]
  ])('keeps %s', async (_, data) => {
    const given = outputOf(data);
    const [output] = await opened(given);
    expect(output).toBe(given);
  });

  it('keeps an output that has no forms', async () => {
    const given = { output_type: 'stream', name: 'stdout', text: 'hello' };
    expect(await opened(given)).toEqual([given]);
  });
});
