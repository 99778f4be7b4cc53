import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { afterEach, describe, expect, it, vi } from 'vitest';

import create from '../entry';
import type { Reply, Request, Snapshot } from '../protocol';
import { buttonOf, numbered, openAll, priced, rowsOf, run, running, settled, snapshot } from '../steps/__tests__/samples';
import type { IModel } from '../steps/model';
import { Route } from '../steps/route';
import { LOST, WORDS } from '../steps/words';

const AGENT: unknown = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../tests/view/wire/agent.json'), 'utf8'));

/** A model as anywidget gives it: `initialize` and `render` get proxies of their own. */
class Model {
  readonly sent: { kind: string; request: Request }[] = [];
  private readonly _callbacks = new Map<string, Set<(...given: unknown[]) => void>>();

  constructor(readonly state: { [name: string]: unknown }) {}

  proxy(): IModel {
    return {
      get: name => this.state[name],
      on: (event, callback) => {
        this._callbacks.set(event, (this._callbacks.get(event) ?? new Set()).add(callback));
      },
      off: (event, callback) => {
        this._callbacks.get(event)?.delete(callback);
      },
      send: content => {
        this.sent.push(content as { kind: string; request: Request });
      }
    };
  }

  emit(event: string, ...given: unknown[]): void {
    this._callbacks.get(event)?.forEach(callback => {
      callback(...given);
    });
  }

  get nListeners(): number {
    return [...this._callbacks.values()].reduce((sum, callbacks) => sum + callbacks.size, 0);
  }
}

function live(state: { [name: string]: unknown } = {}): Model {
  return new Model({ kind: 'run', snapshot: snapshot(running()), nonce: 'secret', kernel_id: 'k', is_live: true, ...state });
}

/** A widget with one view. */
function drawn(model: Model): { model: Model; element: HTMLElement; end: () => void } {
  const drawing = create();
  const element = shown();
  const ends = [drawing.initialize({ model: model.proxy() }), drawing.render({ model: model.proxy(), el: element })];
  return {
    model,
    element,
    end: () => {
      ends.reverse().forEach(end => {
        end();
      });
    }
  };
}

const shown = (): HTMLElement => {
  const element = document.createElement('div');
  document.body.append(element);
  return element;
};

afterEach(() => {
  document.body.replaceChildren();
  delete (globalThis as { agentMagic?: unknown }).agentMagic;
});

describe('the widget', () => {
  it('draws the snapshot and the messages that follow, in views made before and after', async () => {
    const model = live();
    const drawing = create();
    drawing.initialize({ model: model.proxy() });
    const [early, late] = [shown(), shown()];
    drawing.render({ model: model.proxy(), el: early });
    model.emit('msg:custom', numbered([{ kind: 'step', place: 2, step: priced(3) }])[0]);
    await settled();
    drawing.render({ model: model.proxy(), el: late });
    expect([early, late].map(element => rowsOf(element).length)).toEqual([4, 4]);
  });

  it('takes a batch', async () => {
    const model = live();
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
    const messages = numbered([3, 4, 5].map(n => ({ kind: 'step', place: n - 1, step: priced(n) })));
    model.emit('msg:custom', { v: 1, kind: 'batch', messages });
    await settled();
    expect(rowsOf(element)).toHaveLength(6);
  });

  it('is healed by a later snapshot', async () => {
    const model = live();
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
    model.state.snapshot = { ...snapshot(running({}, { steps: [1, 2, 3].map(priced) })), n: 7 } satisfies Snapshot;
    model.emit('change:snapshot');
    await settled();
    expect(rowsOf(element)).toHaveLength(4);
  });

  it('asks over the comm with id, nonce and run, and takes the reply that belongs to it', async () => {
    const model = live();
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
    buttonOf(element, WORDS.stop).click();
    await settled();
    const sent = model.sent.find(({ request }) => request.verb === 'stop');
    expect(sent).toEqual({
      kind: 'request',
      request: { v: 1, id: expect.stringMatching(/^\w{10,}$/) as string, verb: 'stop', nonce: 'secret', run_id: 'run_1' }
    });
    model.emit('msg:custom', { v: 1, kind: 'reply', id: 'other', reply: { v: 1, ok: false, error: 'not for us' } });
    model.emit('msg:custom', { v: 1, kind: 'reply', id: sent?.request.id, reply: { v: 1, ok: true, effective: 'now' } });
    await settled();
    expect(element.textContent).toContain('Stop: now');
    expect(element.textContent).not.toContain('not for us');
  });

  it('tells the kernel of a run that goes on that it is shown, and takes what it has missed', async () => {
    const model = live();
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
    const [sent] = model.sent;
    expect(sent?.request).toMatchObject({ verb: 'hello', snapshot: true });
    const data = { snapshot: snapshot(running({}, { steps: [1, 2, 3, 4].map(priced) }), { n: 6 }) };
    model.emit('msg:custom', { v: 1, kind: 'reply', id: sent?.request.id, reply: { v: 1, ok: true, data } });
    await settled();
    expect(rowsOf(element)).toHaveLength(5);
  });

  it('asks nothing by itself where the run is over', () => {
    const model = live({ is_live: false });
    const drawing = create();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: shown() });
    expect(model.sent).toEqual([]);
  });

  it('asks over the bridge where there is one', async () => {
    const request = vi.fn(() => Promise.resolve({ v: 1, ok: true, effective: 'from step 4' }));
    Object.assign(globalThis, { agentMagic: { request } });
    const { model, element } = drawn(live());
    buttonOf(element, WORDS.replanNow).click();
    await settled();
    expect(model.sent).toEqual([]);
    expect(request).toHaveBeenCalledWith(expect.objectContaining({ verb: 'replan_now', nonce: 'secret' }), {
      node: element,
      kernelId: 'k'
    });
    expect(element.textContent).toContain('Replan now: from step 4');
  });

  it.each([null, 3, {}, { ok: 'yes' }, { ok: false, error: 3 }])('takes the reply %j for a refusal', async reply => {
    const request = ({ verb }: Request): Promise<unknown> => Promise.resolve(verb === 'hello' ? { ok: true } : reply);
    Object.assign(globalThis, { agentMagic: { request } });
    const { element } = drawn(live());
    buttonOf(element, WORDS.stop).click();
    await settled();
    expect(element.textContent).toContain('The kernel refused.');
  });

  it('has no controls without a nonce, and has them when one comes', () => {
    const model = live({ nonce: '' });
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
    expect(element.querySelector('select')).toBeNull();
    model.state.nonce = 'secret';
    model.emit('change:nonce');
    expect(element.querySelector('select')).not.toBeNull();
  });

  it('draws an agent', () => {
    const { element } = drawn(live({ kind: 'agent', snapshot: AGENT }));
    expect(element.querySelector('.jp-AgentMagic-panel-agent')?.textContent).toContain('analyst');
  });

  it('says that a kind of widget is not known', () => {
    const drawing = create();
    const element = shown();
    const model = live({ kind: 'hologram' });
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
    expect(element.textContent).toBe(WORDS.newer);
  });

  it('leaves nothing behind', () => {
    const model = live();
    const drawing = create();
    const element = shown();
    const endModel = drawing.initialize({ model: model.proxy() });
    const endView = drawing.render({ model: model.proxy(), el: element });
    endView();
    endModel();
    expect(model.nListeners).toBe(0);
    expect(element.childNodes).toHaveLength(0);
  });
});

describe('a request that the bridge has no kernel for', () => {
  const refuse = (name: string) => (): Promise<Reply> => Promise.reject(Object.assign(new Error('No kernel.'), { name }));

  it('goes over the comm, which may reach one', async () => {
    Object.assign(globalThis, { agentMagic: { request: refuse('NoKernel') } });
    const { model, element } = drawn(live());
    buttonOf(element, WORDS.stop).click();
    await settled();
    const stop = model.sent.find(({ request }) => request.verb === 'stop')?.request;
    model.emit('msg:custom', { v: 1, kind: 'reply', id: stop?.id, reply: { v: 1, ok: true, effective: 'now' } });
    await settled();
    expect(element.textContent).toContain('Stop: now');
  });

  it('stays with the bridge if it fails for another reason, which is said', async () => {
    Object.assign(globalThis, { agentMagic: { request: refuse('Error') } });
    const { model, element } = drawn(live());
    buttonOf(element, WORDS.stop).click();
    await settled();
    expect(model.sent).toEqual([]);
    expect(element.textContent).toContain('No kernel.');
  });
});

describe('a kernel that goes', () => {
  /** Each way to hear of it. */
  const ways: [string, (model: Model, bridge: Bridge) => void][] = [
    ['by its comm', model => model.emit('comm_live_update')],
    ['by is_live', model => { model.state.is_live = false; model.emit('change:is_live'); }],
    ['by the bridge', (_, bridge) => bridge.changed?.(false)]
  ];

  it.each(ways)('ends the run in its view, without controls, and says where its steps are: told %s', async (_, go) => {
    const bridge = bridgeOf({ v: 1, ok: true });
    const { model, element } = drawn(live());
    openAll(element);
    expect(element.querySelectorAll('select').length).toBeGreaterThan(0);
    go(model, bridge);
    await settled();
    expect(element.querySelectorAll('select, input')).toHaveLength(0);
    expect([...element.querySelectorAll('.jp-AgentMagic-chip')].map(chip => chip.textContent)).toEqual(['interrupted']);
    expect(element.textContent).toContain(LOST.message);
    expect(element.querySelector('.jp-AgentMagic-progress, .jp-AgentMagic-is-now, .jp-AgentMagic-notice')).toBeNull();
    expect(rowsOf(element)).toHaveLength(2);
  });

  it('takes the controls of a run that is over, and says so; what was opened stays open', async () => {
    const bridge = bridgeOf({ v: 1, ok: true });
    const { element } = drawn(live({ snapshot: snapshot(run()), is_live: false }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    bridge.changed?.(false);
    await settled();
    expect(element.querySelectorAll('select, input')).toHaveLength(0);
    expect(element.querySelector('.jp-AgentMagic-notice')?.textContent).toBe(WORDS.gone);
    expect(element.querySelector('.jp-AgentMagic-chip')?.textContent).toBe('answered');
    expect(element.querySelectorAll('.jp-AgentMagic-step-body')).toHaveLength(1);
  });

  it('is noticed by one that does not know the run, as in a notebook that is opened again', async () => {
    bridgeOf({ v: 1, ok: false, error: 'This kernel does not know the run.' });
    const { element } = drawn(live());
    await settled();
    expect(element.textContent).toContain(LOST.message);
  });

  it('answers what waits for an answer over the comm', async () => {
    const model = live();
    const route = new Route(() => 'run_1');
    const asked = route.send(model.proxy(), shown(), { verb: 'stop' });
    route.close();
    expect(await asked).toEqual({ v: 1, ok: false, error: WORDS.noAnswer });
  });

  it('is greeted again when it is there again', async () => {
    const bridge = bridgeOf({ v: 1, ok: true });
    drawn(live());
    await settled();
    bridge.changed?.(true);
    await settled();
    expect(bridge.asked.map(({ verb }) => verb)).toEqual(['hello', 'hello']);
  });

  it('takes the controls of an agent, and says so', async () => {
    const bridge = bridgeOf({ v: 1, ok: true });
    const { element } = drawn(live({ kind: 'agent', snapshot: AGENT }));
    expect(element.querySelectorAll('select').length).toBeGreaterThan(0);
    bridge.changed?.(false);
    await settled();
    expect(element.querySelectorAll('select, input')).toHaveLength(0);
    expect(element.querySelector('.jp-AgentMagic-notice')?.textContent).toContain('not told of changes any more');
  });

  it('is looked for as soon as the view is in the page, until the view is gone', () => {
    vi.useFakeTimers();
    try {
      const bridge = bridgeOf({ v: 1, ok: true });
      const drawing = create();
      const element = document.createElement('div');
      const model = live();
      drawing.initialize({ model: model.proxy() });
      const end = drawing.render({ model: model.proxy(), el: element });
      expect(bridge.nWatching).toBe(0);
      document.body.append(element);
      vi.advanceTimersByTime(300);
      expect(bridge.nWatching).toBe(1);
      end();
      expect(bridge.nWatching).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

interface Bridge {
  asked: Request[];
  nWatching: number;
  changed?: (isUp: boolean) => void;
}

/** A bridge that gives one reply to all, and can tell of the kernel. */
function bridgeOf(reply: Reply): Bridge {
  const bridge: Bridge = { asked: [], nWatching: 0 };
  const request = (content: Request): Promise<Reply> => {
    bridge.asked.push(content);
    return Promise.resolve(reply);
  };
  const watch = (_: Node, changed: (isUp: boolean) => void): (() => void) => {
    bridge.changed = changed;
    bridge.nWatching += 1;
    return () => {
      bridge.nWatching -= 1;
    };
  };
  Object.assign(globalThis, { agentMagic: { request, watch } });
  return bridge;
}
