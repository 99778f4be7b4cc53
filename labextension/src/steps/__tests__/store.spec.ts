import { describe, expect, it, vi } from 'vitest';

import type { Message, Snapshot } from '../../protocol';
import { RunStore } from '../store';
import type { Change } from '../store';
import { action, numbered, plan, priced, run, running, SETTINGS, snapshot, storeOf } from './samples';

describe('a store', () => {
  it('draws a snapshot, then the messages after it', () => {
    const store = storeOf(running(), { n: 3 });
    store.take({ v: 1, n: 4, kind: 'step', place: 2, step: priced(3) });
    expect(store.n).toBe(4);
    expect(store.run.steps).toHaveLength(3);
  });

  it('ignores messages that the snapshot has, and those that come twice', () => {
    const store = storeOf(running(), { n: 3 });
    const message: Message = { v: 1, n: 4, kind: 'totals', n_steps: 9, duration_s: 5, usage: run().usage };
    store.take({ ...message, n: 3, n_steps: 1 });
    store.take(message);
    store.take({ ...message, n_steps: 2 });
    expect(store.run.head.n_steps).toBe(9);
    expect(store.run.nMissed).toBe(0);
  });

  it('replaces a step whose place comes again', () => {
    const store = storeOf(run());
    store.take({ v: 1, n: 1, kind: 'step', place: 1, step: action(2, { thought: 'anew' }) });
    expect(store.run.steps).toHaveLength(2);
    expect(store.run.steps[1]).toEqual(action(2, { thought: 'anew' }));
  });

  it('folds the messages of a batch', () => {
    const store = storeOf(running());
    const messages = numbered([
      { kind: 'step', place: 2, step: priced(3) },
      { kind: 'now', now: { step_number: 4, doing: 'thinking' } }
    ]);
    store.take({ v: 1, kind: 'batch', messages } as unknown as Message);
    expect(store.n).toBe(2);
    expect(store.run.now?.step_number).toBe(4);
  });

  it('lets a text grow, also over what was there', () => {
    const store = storeOf(running());
    numbered([
      { kind: 'text', field: 'thought', at: 0, add: 'I lok' },
      { kind: 'text', field: 'thought', at: 3, add: 'ook at Oslo' },
      { kind: 'text', field: 'reasoning', at: 0, add: 'hm' }
    ]).forEach(message => store.take(message));
    expect(store.run.now).toMatchObject({ thought: 'I look at Oslo', reasoning: 'hm' });
  });

  it('keeps growing texts while the step is the same, and clears them for another', () => {
    const store = storeOf(running());
    numbered([
      { kind: 'text', field: 'thought', at: 0, add: 'so' },
      { kind: 'text', field: 'arguments', at: 0, add: '{"a"', call: 1, name: 'look' },
      { kind: 'now', now: { step_number: 3, doing: 'calling', running: ['a'] } }
    ]).forEach(message => store.take(message));
    expect(store.run.now?.thought).toBe('so');
    expect(store.run.now?.writing).toEqual([
      { name: '', arguments: '' },
      { name: 'look', arguments: '{"a"' }
    ]);
    store.take({ v: 1, n: 4, kind: 'now', now: { step_number: 4, doing: 'thinking' } });
    expect(store.run.now).toEqual({ step_number: 4, doing: 'thinking' });
  });

  it('ends with the head of the end', () => {
    const store = storeOf(running());
    const kinds: Change['kind'][] = [];
    store.subscribe(change => kinds.push(change.kind));
    store.take({ v: 1, n: 1, kind: 'end', head: run({ status: 'max_steps' }) });
    expect(store.isRunning).toBe(false);
    expect(store.run.now).toBeNull();
    expect(kinds).toEqual(['end']);
  });

  it('counts the messages that never came, and takes the later ones', () => {
    const store = storeOf(running());
    store.take({ v: 1, n: 4, kind: 'step', place: 4, step: priced(5) });
    expect(store.run.nMissed).toBe(3);
    expect(store.run.steps.map(step => step?.step_number ?? null)).toEqual([1, 2, null, null, 5]);
  });

  it('is healed by a snapshot that has what was missed, and keeps what came after it', () => {
    const store = storeOf(running());
    store.take({ v: 1, n: 3, kind: 'step', place: 3, step: priced(4) });
    store.take({ v: 1, n: 4, kind: 'step', place: 4, step: priced(5) });
    store.offer(snapshot(running({}, { steps: [1, 2, 3].map(priced) }), { n: 2 }));
    expect(store.run.nMissed).toBe(0);
    expect(store.n).toBe(4);
    expect(store.run.steps.map(step => step?.step_number)).toEqual([1, 2, 3, 4, 5]);
  });

  it('does not go back to a snapshot that is older than what it knows', () => {
    const store = storeOf(running());
    store.take({ v: 1, n: 1, kind: 'step', place: 2, step: priced(3) });
    store.offer(snapshot(running()));
    expect(store.run.steps).toHaveLength(3);
  });

  it('takes a snapshot that is newer than the last message', () => {
    const store = storeOf(running());
    store.offer(snapshot(run({ status: 'failed' }), { n: 9 }));
    expect(store.run.head.status).toBe('failed');
    expect(store.n).toBe(9);
  });

  it('keeps the steps that a later snapshot of the run leaves out', () => {
    const store = storeOf(run({ steps: [1, 2, 3, 4, 5, 6].map(priced), n_steps: 6 }));
    store.offer(snapshot(run({ steps: [1, 5, 6].map(priced), steps_left_out: 3, n_steps: 6 }), { n: 1 }));
    expect(store.run.steps.map(step => step?.step_number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('knows where a long run has left steps out', () => {
    const store = storeOf(run({ steps: [1, 2, 97, 98, 99, 100].map(priced), steps_left_out: 94, n_steps: 100 }));
    expect(store.run.steps).toHaveLength(100);
    expect(store.run.steps[1]?.step_number).toBe(2);
    expect(store.run.steps[2]).toBeNull();
    expect(store.run.steps[96]?.step_number).toBe(97);
  });

  it.each([
    ['a kind of message', { v: 1, n: 1, kind: 'hologram' }],
    ['a version', { v: 2, n: 1, kind: 'head', head: run() }],
    ['a version of the record', { v: 1, n: 1, kind: 'head', head: run({ version: 2 }) }],
    ['a text', { v: 1, n: 1, kind: 'text', field: 'song', at: 0, add: 'la' }]
  ])('says so when %s is not known', (_what, message) => {
    const store = storeOf(running());
    store.take(message as unknown as Message);
    expect(store.run.isNewer).toBe(true);
  });

  it.each([
    null,
    3,
    'x',
    [[]],
    {},
    { v: 1, n: 'x', kind: 'head' },
    { v: 1, n: 1, kind: 'head', head: null },
    { v: 1, n: 1, kind: 'step', place: -1, step: priced(1) },
    { v: 1, n: 1, kind: 'step', place: 1e9, step: priced(1) },
    { v: 1, n: 1, kind: 'step', place: 2, step: 'x' },
    { v: 1, n: 1, kind: 'now', now: 'x' },
    { v: 1, n: 1, kind: 'now', now: { calls: [null, 3, { arguments: 4 }], asked: { items: 'x' } } },
    { v: 1, n: 1, kind: 'text', field: 'thought', at: 'x', add: 3 },
    { v: 1, n: 1, kind: 'text', field: 'arguments', at: 0, add: 'x', call: 1e9 },
    { v: 1, n: 1, kind: 'totals', usage: 'x' },
    { v: 1, n: 1, kind: 'settings', settings: [] },
    { v: 1, n: 1, kind: 'end' },
    { v: 1, kind: 'batch', messages: [null, { v: 1 }] }
  ])('survives %j', message => {
    const store = storeOf(running());
    expect(() => {
      store.take(message as unknown as Message);
    }).not.toThrow();
    expect(store.run.steps).toHaveLength(2);
  });

  it.each([null, 3, {}, { run: null }, { run: { steps: 'x', now: 3 }, n: 'x' }])('survives the snapshot %j', data => {
    const store = new RunStore();
    expect(() => {
      store.reset(data as unknown as Snapshot);
    }).not.toThrow();
  });

  it('lays on a step what the kernel agreed to, and nothing for null', () => {
    const store = storeOf(run());
    store.layOn(0, { view: 'hidden', is_pinned: true });
    expect(store.run.steps[0]?.laid_on).toEqual({ view: 'hidden', is_pinned: true });
    store.layOn(0, { view: null });
    expect(store.run.steps[0]?.laid_on).toEqual({ is_pinned: true });
  });

  it('counts as a change only what was laid on a step here', () => {
    const store = storeOf(run());
    store.showLaidOn(0, { view: null, is_pinned: false });
    expect(store.hasChanges).toBe(false);
    store.layOn(0, { is_pinned: true });
    expect(store.hasChanges).toBe(true);
  });

  it('shows an edit that the kernel agreed to', () => {
    const store = storeOf(run({ steps: [priced(1), plan(2, 'old', { n_items: 3 })] }));
    store.edit(0, {
      model_output: 'better',
      observations: { call_mean_price: '1' },
      arguments: { call_mean_price: { city: 'Bergen' } }
    });
    store.edit(1, { plan: 'new' });
    expect(store.run.steps[0]).toMatchObject({
      thought: 'better',
      calls: [{ arguments: { city: 'Bergen' }, observation: '1' }],
      laid_on: { edited_by: 'person' }
    });
    expect(store.run.steps[1]).toEqual(plan(2, 'new', { original: 'old', laid_on: { edited_by: 'person' } }));
  });

  it('keeps the settings that the kernel tells', () => {
    const store = storeOf(running());
    const settings = { ...SETTINGS, summary_mode: 'all' as const, pending: { summary_mode: 'from step 4' } };
    store.take({ v: 1, n: 1, kind: 'settings', settings });
    expect(store.run.settings).toEqual(settings);
  });

  it('tells nobody who has left', () => {
    const store = storeOf(run());
    const heard = vi.fn();
    store.subscribe(heard)();
    store.layOn(0, { view: 'full' });
    expect(heard).not.toHaveBeenCalled();
  });

  it('counts the seconds only while the run goes on', () => {
    let nowMs = 1_000;
    const store = new RunStore(() => nowMs);
    store.reset(snapshot(running()));
    nowMs += 2_500;
    expect(store.sinceS()).toBe(2.5);
    store.take({ v: 1, n: 1, kind: 'end', head: run() });
    nowMs += 2_500;
    expect(store.sinceS()).toBe(0);
  });
});
