import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { afterEach, describe, expect, it, vi } from 'vitest';

import type { CallRecord, LaneRecord, Message, Snapshot } from '../../protocol';
import { RunStore } from '../store';
import { mountRun } from '../view';
import { action, buttonOf, call, codeCall, laneOf, numbered, openAll, priced, run, running, settled, show, snapshot } from './samples';

const WIRE = resolve(import.meta.dirname, '../../../../tests/view/wire/managed.json');
const { snapshot: BEGIN, messages: MESSAGES } = JSON.parse(readFileSync(WIRE, 'utf8')) as {
  snapshot: Snapshot;
  messages: Message[];
};

afterEach(() => {
  document.body.replaceChildren();
  vi.useRealTimers();
});

const lanesIn = (node: ParentNode): HTMLElement[] => [...node.querySelectorAll<HTMLElement>('.jp-AgentMagic-lane')];
const lineOf = (lane: HTMLElement | undefined): HTMLElement => lane?.querySelector('button') as HTMLElement;
const stepsOf = (lane: HTMLElement | undefined): string[] =>
  [...(lane?.querySelector('[role=list]')?.children ?? [])].map(step => step.querySelector('button')?.textContent ?? step.textContent ?? '');
const managed = (name: string, lane: Partial<LaneRecord> = {}): CallRecord =>
  call(name, { task: 'Look.' }, { observation: `${name} answered`, run: laneOf(name, lane) });
/** The same while its run goes on. */
const goingOn = (name: string, lane: Partial<LaneRecord> = {}): CallRecord =>
  call(name, { task: 'Look.' }, { run: laneOf(name, { status: 'running', ...lane }) });

function mounted(): RunStore {
  const store = new RunStore();
  store.reset(BEGIN);
  mountRun(document.body, store, null);
  return store;
}

/** Take messages until one that the condition is true of was taken. */
function takeUntil(store: RunStore, isLast: (message: Message) => boolean): void {
  for (const message of MESSAGES) {
    store.take(message);
    if (isLast(message)) {
      return;
    }
  }
  throw new Error('no such message');
}

describe('a run with managed agents that goes on', () => {
  it('shows each in a lane of its own, with its steps as they come and what happens in it', async () => {
    const store = mounted();
    takeUntil(store, one => one.kind === 'lane' && one.call === 'call_2' && one.message.kind === 'now');
    await settled();
    const [looker, digger] = lanesIn(document).filter(lane => !lane.parentElement?.closest('.jp-AgentMagic-lane'));
    expect(looker?.closest('.jp-AgentMagic-are-lanes')).not.toBeNull();
    expect(digger?.closest('.jp-AgentMagic-are-lanes')).toBe(looker?.closest('.jp-AgentMagic-are-lanes'));
    expect(lineOf(looker).textContent).toMatch(/^looker.*answered.*3 steps/);
    expect(lineOf(digger).textContent).toMatch(/^digger.*running.*thinking.*step 1 of 1/);
    expect(stepsOf(looker)).toHaveLength(3);
    expect(stepsOf(looker)[0]).toContain('mean_price(city="Atlantis")');
  });

  it('shows a lane in a lane while the inner run goes on', async () => {
    const store = mounted();
    takeUntil(store, one => one.kind === 'lane' && one.message.kind === 'lane' && one.message.message.kind === 'step');
    await settled();
    const inner = lanesIn(document).find(lane => lane.parentElement?.closest('.jp-AgentMagic-lane'));
    expect(lineOf(inner).textContent).toContain('counter');
    expect(stepsOf(inner)[0]).toContain('mean_price(city="Bergen")');
  });

  it('leaves the same lanes under the calls of the finished step', async () => {
    const store = mounted();
    MESSAGES.forEach(message => {
      store.take(message);
    });
    await settled();
    openAll(document.body);
    const names = lanesIn(document).map(lane => lineOf(lane).querySelector('.jp-AgentMagic-lane-agent')?.textContent);
    expect(names.sort()).toEqual(['counter', 'digger', 'looker']);
    const digger = lanesIn(document).find(lane => lineOf(lane).textContent?.startsWith('digger'));
    expect(lineOf(digger).textContent).toContain('step limit of 1 reached');
  });

  it('is drawn alike from a snapshot of the middle', async () => {
    const now = {
      doing: 'calling' as const,
      calls: [goingOn('looker', { now: { step_number: 3, doing: 'thinking', thought: 'Now I' } })],
      running: ['call_looker']
    };
    const { store, element } = show(running(now, { steps: [] }));
    const [lane] = lanesIn(element);
    expect(stepsOf(lane)).toHaveLength(3);
    expect(lane?.textContent).toContain('Now I');
    const news = { kind: 'lane', call: 'call_looker', message: { v: 1, n: 0, kind: 'text', field: 'thought', at: 5, add: ' see it' } };
    numbered([news]).forEach(message => {
      store.take(message);
    });
    await settled();
    expect(lanesIn(element)[0]?.textContent).toContain('Now I see it');
    numbered([{ kind: 'now', now: { step_number: 4, doing: 'thinking' } }], 2).forEach(message => {
      store.take(message);
    });
    await settled();
    expect(lanesIn(element)).toEqual([]);
  });

  it('counts down in a lane whose agent waits before it tries again', () => {
    vi.useFakeTimers();
    const waiting = { reason: 'rate limit', delay_s: 30, attempt: 1 };
    const lane = { now: { step_number: 1, doing: 'waiting', waiting } } as const;
    const now = { doing: 'calling' as const, calls: [goingOn('looker', lane)], running: ['call_looker'] };
    const { element } = show(running(now, { steps: [] }));
    expect(lineOf(lanesIn(element)[0]).textContent).toContain('waiting before it tries again (rate limit) 30 s');
    vi.advanceTimersByTime(12_000);
    expect(lineOf(lanesIn(element)[0]).textContent).toContain('waiting before it tries again (rate limit) 18 s');
  });

  it('shows the lanes of calls that code makes below their rows', () => {
    const code = codeCall('looker("Look.")', { calls: [goingOn('looker')] });
    const { element } = show(running({ doing: 'calling', calls: [code], running: ['call_1', 'call_looker'] }, { steps: [], mode: 'code' }));
    const [lane] = lanesIn(element);
    expect(lane?.previousElementSibling?.textContent).toContain('looker(task="Look.")');
    expect(stepsOf(lane)).toHaveLength(2);
  });

  it('understands no lane beyond what a page can show', () => {
    const store = new RunStore();
    store.reset(snapshot(running({ calls: [call('looker', {})] })));
    let message: object = { kind: 'now', now: { step_number: 1, doing: 'thinking' } };
    for (let depth = 0; depth < 2_000; depth++) {
      message = { kind: 'lane', call: 'call_looker', message };
    }
    numbered([message]).forEach(one => {
      store.take(one);
    });
    expect(store.laneOf('call_looker')?.laneOf('call_looker')).toBeDefined();
  });
});

describe('a saved run with managed agents', () => {
  it('has lanes side by side, open, whose steps open with the keyboard', () => {
    const { element } = show(run({ steps: [action(1, { calls: [managed('looker'), managed('digger')] })] }), null);
    openAll(element);
    const [lane] = lanesIn(element);
    expect(lane?.closest('.jp-AgentMagic-are-lanes')?.querySelectorAll('.jp-AgentMagic-has-lane')).toHaveLength(2);
    expect(lineOf(lane).tagName).toBe('BUTTON');
    expect(lineOf(lane).getAttribute('aria-expanded')).toBe('true');
    expect(lane?.querySelector('[role=list]')?.getAttribute('aria-label')).toBe('Steps of the managed agent');
    lineOf(lane).click();
    expect(lineOf(lane).getAttribute('aria-expanded')).toBe('false');
    expect(lane?.querySelector('[role=list]')).toBeNull();
  });

  it('says on the line of the call how many steps there were, and what was answered', () => {
    const { element } = show(run({ steps: [action(1, { calls: [managed('looker')] })] }), null);
    expect(element.querySelector('[role=listitem]')?.textContent).toContain('looker(task="Look.") (2 steps) → Oslo.');
  });

  it('says where steps of a lane are left out, and shows many in parts', () => {
    const steps = Array.from({ length: 40 }, (_, i) => priced(i + 1));
    const lane = { steps, steps_left_out: 7, n_steps: 47 };
    const { element } = show(run({ steps: [action(1, { calls: [managed('looker', lane)] })] }), null);
    element.querySelector<HTMLElement>('[role=listitem] > button')?.click();
    expect(lanesIn(element)[0]?.textContent).toContain('7 steps not shown here');
    expect(lanesIn(element)[0]?.querySelectorAll('.jp-AgentMagic-lane-step')).toHaveLength(30);
    buttonOf(element, 'Show all (10 more steps)').click();
    expect(lanesIn(element)[0]?.querySelectorAll('.jp-AgentMagic-lane-step')).toHaveLength(40);
  });

  it('follows a record into no depth that a page cannot show', () => {
    let steps = [priced(1)];
    for (let depth = 0; depth < 500; depth++) {
      steps = [action(1, { calls: [managed('deep', { steps })] })];
    }
    const { element } = show(run({ steps }), null);
    openAll(element);
    expect(lanesIn(element).length).toBeLessThan(10);
    expect(element.textContent).not.toContain('cannot be drawn');
  });
});

describe('a sound', () => {
  const shown = (url: string | undefined): HTMLElement => {
    const sounds = [{ words: 'sound of 2.5 s (wav)', ...(url === undefined ? {} : { url }) }];
    const { element } = show(run({ steps: [action(1, { calls: [call('say', {}, { observation: 'said', sounds })] })] }), null);
    openAll(element);
    return element;
  };

  it('can be played, and says what it is', () => {
    const player = shown('data:audio/wav;base64,UklGRg==').querySelector('audio');
    expect(player?.controls).toBe(true);
    expect(player?.src).toBe('data:audio/wav;base64,UklGRg==');
    expect(player?.parentElement?.textContent).toBe('sound of 2.5 s (wav)');
  });

  it.each([undefined, 'https://example.org/a.wav', 'data:audio/wav;base64,<b>', 'data:text/html;base64,UklGRg=='])(
    'stands in words where it is none that can be played: %s',
    url => {
      const element = shown(url);
      expect(element.querySelector('audio')).toBeNull();
      expect(element.textContent).toContain('sound of 2.5 s (wav)');
    }
  );
});
