import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openBridge } from '../bridge';
import extension from '../mime';
import { RUN_MIME } from '../protocol';
import type { Reply, Request } from '../protocol';
import { KernelDouble, PanelDouble, shellOf } from './lab';

const RECORD = {
  version: 1,
  agent_magic: '0.1.0',
  run_id: 'r1',
  agent: 'analyst',
  status: 'answered',
  n_steps: 2,
  task: 'Compare',
  steps: [
    { step_number: 1, duration_s: 1, thought: 'First <img src=x onerror=alert(1)>' },
    { step_number: 2, duration_s: 1, thought: 'Second', laid_on: { view: 'hidden' } }
  ],
  answer: { type: 'str', text: 'Oslo' },
  error: null
};
const SETTINGS = {
  summary_mode: 'plan',
  planning_interval: null,
  is_paused: false,
  max_steps: 6,
  approve: 'never',
  pending: {}
};
const KNOWN: Reply = {
  v: 1,
  ok: true,
  data: { nonce: 'n1', is_running: false, settings: SETTINGS, steps: [{ is_pinned: true }, null] }
};
const UNKNOWN: Reply = { v: 1, ok: false, error: 'This kernel does not know the run.' };

// The page has one bridge for all of its life: panels come and go below it.
const panels: PanelDouble[] = [];
openBridge({ widgets: () => shellOf(...panels).widgets() } as never);

let renderer: IRenderMime.IRenderer;

function openPanel(reply: Reply | null): { panel: PanelDouble; kernel: KernelDouble } {
  const kernel = new KernelDouble('k1', reply);
  const panel = new PanelDouble(kernel);
  panels.push(panel);
  return { panel, kernel };
}

function render(data: unknown): Promise<void> {
  return renderer.renderModel({ data: { [RUN_MIME]: data } } as unknown as IRenderMime.IMimeModel);
}

async function show(panel: PanelDouble, data: unknown = RECORD): Promise<void> {
  await render(data);
  Widget.attach(renderer, panel.node);
  await settle();
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(100);
}

function verbs(kernel: KernelDouble): Request['verb'][] {
  return kernel.sent.map(message => message.content.verb);
}

function controls(): string[] {
  return [...renderer.node.querySelectorAll('select, input')].map(control => control.tagName);
}

beforeEach(() => {
  vi.useFakeTimers();
  renderer = extension.rendererFactory.createRenderer({ mimeType: RUN_MIME } as IRenderMime.IRendererOptions);
});

afterEach(() => {
  renderer.dispose();
  vi.useRealTimers();
  panels.length = 0;
  document.body.replaceChildren();
});

it('is safe, and preferred to HTML', () => {
  expect(extension.rendererFactory.safe).toBe(true);
  expect(extension.rendererFactory.mimeTypes).toEqual(['application/vnd.agent-magic.run.v1+json']);
  expect(extension.rank).toBeLessThan(50);
  expect(extension.dataType).toBe('json');
});

it('draws code with its calls, in a notebook that was opened again', async () => {
  const code = 'for city in cities:\n    mean_price(city)  # <img src=x onerror=alert(1)>';
  const inner = { id: 'c1.1', name: 'mean_price', arguments: { city: '<b>Oslo</b>' }, observation: '4321.5' };
  const call = { id: 'c1', name: 'python', arguments: {}, code, calls: [inner], observation: 'printed' };
  const { panel } = openPanel(null);
  await show(panel, { ...RECORD, mode: 'code', steps: [{ step_number: 1, duration_s: 1, calls: [call] }] });
  renderer.node.querySelector<HTMLElement>('[role=listitem] button')?.click();
  await settle();
  expect(renderer.node.querySelector('pre')?.textContent).toBe(code);
  expect(renderer.node.querySelector('.jp-AgentMagic-inner-calls')?.textContent).toBe(
    'mean_price(city="<b>Oslo</b>") → 4321.5'
  );
  expect(renderer.node.querySelector('img, b')).toBeNull();
});

describe('without a kernel that knows the run', () => {
  it.each([
    ['it refuses', UNKNOWN],
    ['it is silent', null],
    ['it answers nonsense', { v: 1, ok: true, data: { nonce: 5 } }]
  ] as const)('draws the run without controls when %s', async (_, reply) => {
    const { panel, kernel } = openPanel(reply);
    await show(panel);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(verbs(kernel)).toEqual(['hello']);
    expect(renderer.node.textContent).toContain('First <img src=x onerror=alert(1)>');
    expect(renderer.node.textContent).toContain('Oslo');
    expect(renderer.node.querySelector('img')).toBeNull();
    expect(controls()).toEqual([]);
  });

  it('draws it where there is no notebook at all', async () => {
    await render(RECORD);
    Widget.attach(renderer, document.body);
    await settle();
    expect(renderer.node.textContent).toContain('Oslo');
    expect(controls()).toEqual([]);
  });
});

describe('with the kernel that ran it', () => {
  it('says hello once it is in the notebook, and then has controls', async () => {
    const { panel, kernel } = openPanel(KNOWN);
    await render(RECORD);
    await settle();
    expect(kernel.sent).toEqual([]);
    Widget.attach(renderer, panel.node);
    await settle();
    expect(kernel.sent[0]?.content).toMatchObject({ v: 1, verb: 'hello', nonce: '', run_id: 'r1' });
    expect(controls()).not.toEqual([]);
  });

  it('shows what was laid upon the steps since', async () => {
    const { panel } = openPanel(KNOWN);
    await show(panel);
    expect(renderer.node.textContent).toContain('pinned');
    expect(renderer.node.textContent).not.toContain('hidden from the model');
  });

  it('asks with the nonce of its hello', async () => {
    const { panel, kernel } = openPanel(KNOWN);
    await show(panel);
    const select = renderer.node.querySelector('select');
    expect(select).not.toBeNull();
    select?.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    const [hello, asked] = kernel.sent.map(message => message.content);
    expect(asked).toMatchObject({ nonce: 'n1', run_id: 'r1' });
    expect(asked?.id).not.toBe(hello?.id);
  });

  it('takes the controls away when the kernel restarts, and says hello to the new one', async () => {
    const { panel, kernel } = openPanel(KNOWN);
    await show(panel);
    kernel.reply = UNKNOWN;
    panel.sessionContext.statusChanged.emit('restarting');
    expect(controls()).toEqual([]);
    panel.sessionContext.statusChanged.emit('idle');
    await settle();
    expect(verbs(kernel)).toEqual(['hello', 'hello']);
    expect(controls()).toEqual([]);
    expect(renderer.node.textContent).toContain('Oslo');
  });

  it('leaves the focus where it was when its controls come or go', async () => {
    const { panel, kernel } = openPanel(KNOWN);
    await show(panel);
    const line = (): HTMLElement | null => renderer.node.querySelector<HTMLElement>('[role=listitem] button');
    const before = line();
    before?.focus();
    kernel.reply = UNKNOWN;
    panel.sessionContext.statusChanged.emit('restarting');
    expect(line()).not.toBe(before);
    expect(document.activeElement).toBe(line());
  });

  it('takes them up when the notebook gets the kernel back', async () => {
    const { panel } = openPanel(UNKNOWN);
    await show(panel);
    panel.setKernel(new KernelDouble('k2', KNOWN));
    await settle();
    expect(controls()).not.toEqual([]);
  });

  it('lets a late reply of the kernel before count for nothing', async () => {
    const { panel, kernel } = openPanel(null);
    await show(panel);
    panel.setKernel(null);
    kernel.answer(KNOWN);
    await settle();
    expect(verbs(kernel)).toEqual(['hello']);
    expect(controls()).toEqual([]);
  });
});

describe('of a run that went on when the notebook was saved', () => {
  const RUNNING = { ...RECORD, status: 'running', steps: [], answer: null };
  const HELLO = { nonce: 'n1', is_running: true, settings: SETTINGS, steps: [] };
  const later = (n: number): Reply => {
    const run = { ...RUNNING, steps: RECORD.steps.slice(0, n), now: { step_number: n + 1, doing: 'thinking' } };
    return { v: 1, ok: true, data: { ...HELLO, snapshot: { v: 1, n, run, settings: SETTINGS, step: null } } };
  };

  it('follows it, and keeps its forms when it has ended', async () => {
    const { panel, kernel } = openPanel(later(1));
    const setData = vi.fn();
    await renderer.renderModel({ data: { [RUN_MIME]: RUNNING }, setData } as unknown as IRenderMime.IMimeModel);
    Widget.attach(renderer, panel.node);
    await settle();
    expect(kernel.sent[0]?.content).toMatchObject({ verb: 'hello', snapshot: true, bundle: true });
    expect(renderer.node.querySelectorAll('[role="listitem"][aria-posinset]')).toHaveLength(1);
    expect(controls()).not.toEqual([]);
    kernel.reply = later(2);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(renderer.node.querySelectorAll('[role="listitem"][aria-posinset]')).toHaveLength(2);
    expect(setData).not.toHaveBeenCalled();
    const bundle = { [RUN_MIME]: RECORD, 'text/plain': 'Oslo' };
    kernel.reply = { v: 1, ok: true, data: { ...HELLO, is_running: false, bundle } };
    await vi.advanceTimersByTimeAsync(1_500);
    expect(setData).toHaveBeenCalledExactlyOnceWith({ data: bundle });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(verbs(kernel)).toEqual(['hello', 'hello', 'hello']);
  });

  it('says that it was lost where the kernel does not know it, and follows it where a later one does', async () => {
    const { panel } = openPanel(UNKNOWN);
    await show(panel, RUNNING);
    expect(renderer.node.textContent).toContain('The kernel ended during this run');
    expect(controls()).toEqual([]);
    panel.setKernel(new KernelDouble('k2', later(2)));
    await settle();
    expect(renderer.node.textContent).not.toContain('The kernel ended');
    expect(renderer.node.querySelectorAll('[role="listitem"][aria-posinset]')).toHaveLength(2);
    expect(controls()).not.toEqual([]);
  });

  it('says so when its kernel goes', async () => {
    const { panel } = openPanel(later(1));
    await show(panel, RUNNING);
    panel.sessionContext.statusChanged.emit('restarting');
    await settle();
    expect(renderer.node.textContent).toContain('The kernel ended during this run');
    expect(controls()).toEqual([]);
  });
});

describe('drawn again', () => {
  it('keeps open what was opened', async () => {
    const { panel } = openPanel(UNKNOWN);
    await show(panel);
    const row = renderer.node.querySelector<HTMLElement>('[role="listitem"] > button');
    row?.click();
    await settle();
    expect(renderer.node.querySelectorAll('[role="listitem"] > [aria-expanded="true"]').length).toBe(1);
    await render({ ...RECORD, answer: { type: 'str', text: 'Bergen' } });
    await settle();
    expect(renderer.node.textContent).toContain('Bergen');
    expect(renderer.node.querySelectorAll('[role="listitem"] > [aria-expanded="true"]').length).toBe(1);
  });

  it('keeps open what was opened when controls come or go', async () => {
    const { panel } = openPanel(KNOWN);
    await show(panel);
    renderer.node.querySelector<HTMLElement>('[role="listitem"] > button')?.click();
    await settle();
    const before = renderer.node.querySelectorAll('[role="listitem"] > [aria-expanded="true"]').length;
    expect(before).toBeGreaterThan(0);
    panel.sessionContext.statusChanged.emit('dead');
    await settle();
    expect(controls()).toEqual([]);
    expect(renderer.node.querySelectorAll('[role="listitem"] > [aria-expanded="true"]').length).toBe(before);
  });

  it('goes on when a notebook takes it out of the page and puts it back', async () => {
    const { panel, kernel } = openPanel(KNOWN);
    await show(panel);
    Widget.detach(renderer);
    panel.sessionContext.statusChanged.emit('restarting');
    panel.sessionContext.statusChanged.emit('idle');
    await settle();
    expect(verbs(kernel)).toEqual(['hello']);
    Widget.attach(renderer, panel.node);
    await settle();
    expect(verbs(kernel)).toEqual(['hello', 'hello']);
  });
});

describe('a record that cannot be drawn', () => {
  it.each([null, 5, 'text', [], {}, { ...RECORD, version: 2 }])('says so: %j', async data => {
    const { panel, kernel } = openPanel(KNOWN);
    await show(panel, data);
    expect(renderer.node.textContent).toContain('pip install -U agent-magic');
    expect(kernel.sent).toEqual([]);
  });

  it('has the words that stand beside it shown, as text', async () => {
    await renderer.renderModel({
      data: { [RUN_MIME]: { ...RECORD, version: 2 }, 'text/plain': 'analyst · answered <b>Oslo</b>' },
      metadata: {},
      setData: () => undefined
    } as unknown as IRenderMime.IMimeModel);
    expect(renderer.node.textContent).toContain('pip install -U agent-magic');
    expect(renderer.node.textContent).toContain('analyst · answered <b>Oslo</b>');
    expect(renderer.node.querySelector('b')).toBeNull();
  });

  it('gives way to one that can', async () => {
    const { panel } = openPanel(UNKNOWN);
    await show(panel, null);
    await render(RECORD);
    expect(renderer.node.textContent).toContain('Oslo');
    expect(renderer.node.textContent).not.toContain('pip install -U');
  });
});

it('leaves nothing behind when it is disposed of', async () => {
  const { panel, kernel } = openPanel(KNOWN);
  const disconnect = vi.spyOn(panel.sessionContext.statusChanged, 'disconnect');
  await show(panel, { ...RECORD, status: 'running' }); // saved while it ran: its time goes on
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  renderer.dispose();
  await settle();
  expect(vi.getTimerCount()).toBe(0);
  expect(disconnect).toHaveReturnedWith(true);
  expect(verbs(kernel)).toEqual(['hello']);
  expect(panel.node.textContent).toBe('');
});
