import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Request, Snapshot } from '../../protocol';
import type { IModel } from '../drawing';
import create from '../entry';
import { WORDS } from '../words';
import { buttonOf, numbered, priced, rowsOf, running, settled, snapshot } from './samples';

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
    const model = live();
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
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
    Object.assign(globalThis, { agentMagic: { request: () => Promise.resolve(reply) } });
    const model = live();
    const drawing = create();
    const element = shown();
    drawing.initialize({ model: model.proxy() });
    drawing.render({ model: model.proxy(), el: element });
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
