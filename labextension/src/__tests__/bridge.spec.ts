import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import manifest from '../../package.json';
import { openBridge } from '../bridge';
import type { Request } from '../protocol';
import { KernelDouble, PanelDouble, shellOf } from './lab';

const STOP: Request = { v: 1, id: 'q1', verb: 'stop', nonce: 'n1', run_id: 'r1' };
const HELLO: Request = { ...STOP, verb: 'hello' };

function origin(panel?: PanelDouble, kernelId: string | null = null): { node: Node; kernelId: string | null } {
  const node = document.createElement('div');
  (panel?.node ?? document.body).append(node);
  return { node, kernelId };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

describe('request', () => {
  it('goes over the control channel of the kernel of the notebook around the view', async () => {
    const other = new PanelDouble(new KernelDouble('k1'));
    const panel = new PanelDouble(new KernelDouble('k2'));
    const reply = await openBridge(shellOf(other, panel)).request(STOP, origin(panel, 'k1'));
    expect(reply).toEqual({ v: 1, ok: true, effective: 'now', data: 'k2' });
    expect(other.kernel?.sent).toEqual([]);
    const [message] = panel.kernel?.sent ?? [];
    expect(message?.channel).toBe('control');
    expect(message?.header.msg_type).toBe('agent_magic_request');
    expect(message?.header.session).toBe('client-k2');
    expect(message?.content).toEqual(STOP);
  });

  it('gives each message an id of its own', async () => {
    const panel = new PanelDouble(new KernelDouble('k1'));
    const bridge = openBridge(shellOf(panel));
    await bridge.request(STOP, origin(panel));
    await bridge.request(STOP, origin(panel));
    const ids = panel.kernel?.sent.map(message => message.header.msg_id);
    expect(new Set(ids).size).toBe(2);
  });

  it('goes to the kernel that is named when the view stands outside of its notebook', async () => {
    const panels = [new PanelDouble(new KernelDouble('k1')), new PanelDouble(new KernelDouble('k2'))];
    const reply = await openBridge(shellOf(...panels)).request(STOP, origin(undefined, 'k2'));
    expect(reply).toMatchObject({ data: 'k2' });
    expect(panels[0]?.kernel?.sent).toEqual([]);
  });

  it('finds the kernel that knows the run when none is named, and keeps to it', async () => {
    const stranger = new KernelDouble('k1', { v: 1, ok: false, error: 'This kernel does not know the run.' });
    const home = new KernelDouble('k2');
    const bridge = openBridge(shellOf(new PanelDouble(stranger), new PanelDouble(home)));
    expect(await bridge.request(HELLO, origin())).toMatchObject({ ok: true, data: 'k2' });
    expect(await bridge.request(STOP, origin())).toMatchObject({ ok: true, data: 'k2' });
    expect(stranger.sent.length).toBe(1);
  });

  it('gives the refusal when no kernel knows the run', async () => {
    const refusal = { v: 1, ok: false, error: 'This kernel does not know the run.' } as const;
    const silent = new KernelDouble('k2', null);
    const shell = shellOf(new PanelDouble(new KernelDouble('k1', refusal)), new PanelDouble(silent));
    const asked = openBridge(shell).request(HELLO, origin());
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await asked).toEqual(refusal);
  });

  it('never goes to another kernel when the notebook around the view has none', async () => {
    const panel = new PanelDouble(null);
    const bridge = openBridge(shellOf(panel, new PanelDouble(new KernelDouble('k1'))));
    await expect(bridge.request(STOP, origin(panel, 'k1'))).rejects.toMatchObject({
      name: 'NoKernel',
      message: 'No kernel runs for this view. Start the kernel of its notebook, then try again.'
    });
  });

  it('says so when the kernel does not answer within 5 s', async () => {
    const panel = new PanelDouble(new KernelDouble('k1', null));
    const asked = openBridge(shellOf(panel)).request(STOP, origin(panel));
    const rejected = expect(asked).rejects.toThrow(
      'The kernel did not answer within 5 s. Run %load_ext agent_magic in it; ' +
        'if that was done, the kernel hangs: interrupt it.'
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await rejected;
    expect(panel.kernel?.nWaiting).toBe(0);
  });

  it('says so when a restart comes before the answer, and works after it', async () => {
    const kernel = new KernelDouble('k1', null);
    const panel = new PanelDouble(kernel);
    const bridge = openBridge(shellOf(panel));
    const asked = bridge.request(STOP, origin(panel));
    const rejected = expect(asked).rejects.toThrow('The kernel was restarted before it answered.');
    kernel.restart();
    await rejected;
    kernel.reply = { v: 1, ok: true };
    expect(await bridge.request(STOP, origin(panel))).toMatchObject({ ok: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([null, 'yes', [], {}, { ok: 1 }, { ok: false }, { ok: false, error: 5 }])(
    'refuses %j as a reply',
    async reply => {
      const panel = new PanelDouble(new KernelDouble('k1', { given: reply }));
      await expect(openBridge(shellOf(panel)).request(STOP, origin(panel))).rejects.toThrow(
        'The kernel gave a reply that cannot be read. Update agent-magic there, then restart the kernel.'
      );
    }
  );
});

describe('watch', () => {
  it('tells when the kernel restarts and when it is there again', () => {
    const panel = new PanelDouble(new KernelDouble('k1'));
    const told: boolean[] = [];
    const end = openBridge(shellOf(panel)).watch(origin(panel).node, isUp => told.push(isUp));
    for (const status of ['busy', 'restarting', 'restarting', 'starting', 'idle', 'busy', 'idle'] as const) {
      panel.sessionContext.statusChanged.emit(status);
    }
    expect(told).toEqual([false, true]);
    end();
    panel.sessionContext.statusChanged.emit('restarting');
    expect(told).toEqual([false, true]);
  });

  it('tells when the notebook gets another kernel, or none', () => {
    const panel = new PanelDouble(new KernelDouble('k1'));
    const told: boolean[] = [];
    openBridge(shellOf(panel)).watch(origin(panel).node, isUp => told.push(isUp));
    panel.setKernel(new KernelDouble('k2'));
    panel.setKernel(null);
    expect(told).toEqual([true, false]);
  });

  it('holds no listener after its end', () => {
    const panel = new PanelDouble(new KernelDouble('k1'));
    const disconnect = vi.spyOn(Signal.prototype, 'disconnect');
    openBridge(shellOf(panel)).watch(origin(panel).node, () => undefined)();
    expect(disconnect.mock.results.map(result => result.value as boolean)).toEqual([true, true]);
  });

  it('is silent for a node outside of every notebook', () => {
    const bridge = openBridge(shellOf(new PanelDouble(null)));
    expect(() => {
      bridge.watch(origin().node, () => undefined)();
    }).not.toThrow();
  });
});

it('passes over widgets that have no kernel', async () => {
  const panel = new PanelDouble(new KernelDouble('k1'));
  const plain = { node: document.body };
  const shell = { widgets: () => [plain, panel].values() } as unknown as JupyterFrontEnd.IShell;
  expect(await openBridge(shell).request(STOP, origin(panel))).toMatchObject({ data: 'k1' });
});

it('tells the version of the package', () => {
  expect(openBridge(shellOf()).version).toBe(manifest.version);
});
