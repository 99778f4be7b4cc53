import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Reply } from '../../protocol';
import { BUSY_MS } from '../asking';
import { MAX_SHOWN } from '../text';
import { mountRun } from '../view';
import { WORDS } from '../words';
import {
  action,
  buttonOf,
  call,
  numbered,
  openAll,
  plan,
  priced,
  rowsOf,
  run,
  running,
  SETTINGS,
  settled,
  show,
  storeOf,
  USAGE
} from './samples';

afterEach(() => {
  document.body.replaceChildren();
  vi.useRealTimers();
});

const said = (element: Element): string =>
  [...element.querySelectorAll('[class~=jp-AgentMagic-said]')].map(node => node.textContent).join('');

describe('the head', () => {
  it('says agent, status, model and why, figures, and the task', () => {
    const { element } = show(run({ why: 'the best that has a key', verified: 'yes', warnings: ['No table @tabel.'] }));
    expect(element.querySelector('.jp-AgentMagic-head')?.textContent).toBe(
      'analystansweredchecks passedopenai/gpt-5 · the best that has a key' +
        '2 steps of 20 · 1,500 tokens in (1,000 cached), 120 out · $0.0032 · 4.2 s' +
        '⚠ No table @tabel.TaskWhich city is dearer?'
    );
  });

  it.each([
    ['answered', {}, 'answeredunchecked'],
    ['answered', { verified: 'no' }, 'answeredcheck refused'],
    ['max_steps', {}, 'step limit of 20 reached'],
    ['interrupted', {}, 'interrupted'],
    ['failed', {}, 'failed'],
    ['budget', {}, 'budget used up'],
    ['running', {}, 'running']
  ] as const)('says that a run is %s %j', (status, fields, words) => {
    const { element } = show(run({ status, ...fields }));
    expect([...element.querySelectorAll('.jp-AgentMagic-chip')].map(chip => chip.textContent).join('')).toBe(words);
  });

  it('says what is unknown', () => {
    const unknown = { ...USAGE, input_tokens: null, output_tokens: null, cost_usd: null };
    const { element } = show(run({ usage: unknown }));
    expect(element.textContent).toContain('tokens unknown · cost unknown');
  });

  it('lets the time go on while the run does', () => {
    vi.useFakeTimers();
    const { element } = show(running({}, { duration_s: 61 }));
    vi.advanceTimersByTime(3_000);
    expect(element.textContent).toContain('1 min 4 s');
  });

  it('opens a long task', () => {
    const { element } = show(run({ task: 'first\nsecond', variables: [{ name: 'df', description: 'DataFrame' }] }));
    const line = element.querySelector<HTMLElement>('.jp-AgentMagic-task [aria-expanded]');
    expect(line?.getAttribute('aria-expanded')).toBe('false');
    line?.click();
    expect(element.querySelector('.jp-AgentMagic-task pre')?.textContent).toBe('first\nsecond');
    expect(element.querySelector('.jp-AgentMagic-task table')?.textContent).toBe('@dfDataFrame');
  });
});

describe('what happens now', () => {
  it.each([
    [{ doing: 'thinking' }, 'thinking'],
    [{ doing: 'planning' }, 'planning'],
    [
      { doing: 'calling', calls: [call('mean_price', {}), call('look', {}, { observation: 'x' })], running: ['call_mean_price'] },
      'calling mean_price'
    ],
    [{ doing: 'paused', waiting: { reason: 'by you', delay_s: null, attempt: 0 } }, 'paused (by you)'],
    [{ doing: 'asking', asked: { id: 'q', items: [] } }, 'waiting for your approval'],
    [{ doing: 'thinking', writing: [{ name: 'look', arguments: '{' }] }, 'writing a call of look']
  ] as const)('is said in words: %j', (now, words) => {
    const { element } = show(running(now as never));
    expect(element.querySelector('.jp-AgentMagic-doing')?.textContent).toBe(words);
    expect(element.querySelector('.jp-AgentMagic-doing')?.getAttribute('aria-live')).toBe('polite');
  });

  it('counts down a pause, unheard', () => {
    vi.useFakeTimers();
    const { element } = show(running({ doing: 'waiting', waiting: { reason: '503', delay_s: 3, attempt: 1 } }));
    const progress = element.querySelector('.jp-AgentMagic-progress');
    expect(progress?.textContent).toContain('waiting before it tries again (503)3 s');
    vi.advanceTimersByTime(2_000);
    expect(progress?.textContent).toContain('1 s');
    expect(progress?.querySelector('[aria-hidden=true]')?.textContent).toBe('1 s');
  });

  it('streams into the same text node', async () => {
    const { element, store } = show(running());
    store.take(numbered([{ kind: 'text', field: 'thought', at: 0, add: 'I look' }])[0] as never);
    await settled();
    const node = element.querySelector('.jp-AgentMagic-is-growing')?.firstChild as Text;
    expect(node.data).toBe('I look');
    store.take(numbered([{ kind: 'text', field: 'thought', at: 6, add: ' at Oslo' }], 2)[0] as never);
    await settled();
    expect(element.querySelector('.jp-AgentMagic-is-growing')?.firstChild).toBe(node);
    expect(node.data).toBe('I look at Oslo');
  });

  it('streams the arguments of a call', async () => {
    const { element, store } = show(running());
    numbered([
      { kind: 'text', field: 'arguments', at: 0, add: '{"city": ', call: 0, name: 'mean_price' },
      { kind: 'text', field: 'arguments', at: 9, add: '"Oslo"}', call: 0, name: 'mean_price' }
    ]).forEach(message => store.take(message));
    await settled();
    expect(element.querySelector('.jp-AgentMagic-call')?.textContent).toBe('mean_price{"city": "Oslo"}');
  });

  it('becomes a closed row when the step is made', async () => {
    const { element, store } = show(running({ thought: 'so' }));
    numbered([
      { kind: 'step', place: 2, step: priced(3) },
      { kind: 'now', now: { step_number: 4, doing: 'thinking' } }
    ]).forEach(message => store.take(message));
    await settled();
    const rows = rowsOf(element);
    expect(rows).toHaveLength(4);
    expect(rows[2]?.textContent).toBe('3mean_price(city="Oslo") → 4321.51,620 tokens · 1.3 s');
    expect(rows[3]?.textContent).toBe('4thinking');
  });

  it('shows the first of many calls, and all on demand', async () => {
    const calls = Array.from({ length: 200 }, (_, i) => call('look', { i }, { id: `c${i}` }));
    const { element } = show(running({ doing: 'calling', calls, running: calls.map(one => one.id) }));
    expect(element.querySelectorAll('.jp-AgentMagic-is-running')).toHaveLength(20);
    buttonOf(element, 'Show all (180 more calls)').click();
    await settled();
    expect(element.querySelectorAll('.jp-AgentMagic-is-running')).toHaveLength(200);
  });

  it('leaves with the end, which is drawn at once', () => {
    const { element, store } = show(running());
    store.take(numbered([{ kind: 'end', head: run() }])[0] as never);
    expect(element.querySelector('.jp-AgentMagic-progress')).toBeNull();
    expect(element.querySelector('.jp-AgentMagic-panel')?.textContent).toBe('AnswerOslo.Copy');
  });
});

describe('controls', () => {
  it('are not there without a kernel', () => {
    const { element } = show(running(), null);
    openAll(element);
    expect(element.querySelectorAll('select, input, textarea')).toHaveLength(0);
    expect([...element.querySelectorAll('button')].map(button => button.textContent)).not.toContain(WORDS.stop);
  });

  it.each([
    [WORDS.stop, { verb: 'stop' }],
    [WORDS.pause, { verb: 'pause' }],
    [WORDS.replanNow, { verb: 'replan_now' }]
  ])('%s asks for it and says from when on it holds', async (words, request) => {
    const { element, requests } = show(running(), () => ({ v: 1, ok: true, effective: 'from step 4' }));
    buttonOf(element, words).click();
    await settled();
    expect(requests).toEqual([request]);
    expect(said(element)).toBe(`${words}: from step 4`);
  });

  it('lets a paused run go on', () => {
    const { element, requests } = show(running({ doing: 'paused' }), undefined, {
      settings: { ...SETTINGS, is_paused: true }
    });
    buttonOf(element, WORDS.goOn).click();
    expect(requests).toEqual([{ verb: 'go_on' }]);
  });

  it('sets the summary mode', async () => {
    const { element, requests, store } = show(running(), () => ({ v: 1, ok: true, effective: 'from the next call' }));
    const select = element.querySelector('select') as HTMLSelectElement;
    expect([...select.options].map(option => option.value)).toEqual(['plan', 'all', 'off']);
    select.value = 'all';
    select.dispatchEvent(new Event('change'));
    await settled();
    expect(requests).toEqual([{ verb: 'set', name: 'summary_mode', value: 'all' }]);
    expect(said(element)).toBe('summary_mode all: from the next call');
    expect(store.run.settings?.summary_mode).toBe('all');
  });

  it('turns replanning on with the interval that stands there, and off', async () => {
    const { element, requests } = show(running());
    const [check, interval] = ['checkbox', 'number'].map(
      type => element.querySelector(`input[type=${type}]`) as HTMLInputElement
    ) as [HTMLInputElement, HTMLInputElement];
    check.click();
    await settled();
    interval.value = '5';
    interval.dispatchEvent(new Event('change'));
    await settled();
    check.click();
    await settled();
    expect(requests).toEqual([
      { verb: 'set', name: 'planning_interval', value: 3 },
      { verb: 'set', name: 'planning_interval', value: 5 },
      { verb: 'set', name: 'planning_interval', value: null }
    ]);
  });

  it('goes back to what holds when it is refused', async () => {
    const error = 'planning_interval=3 is not allowed.';
    const { element } = show(running(), () => ({ v: 1, ok: false, error }));
    const check = element.querySelector('input[type=checkbox]') as HTMLInputElement;
    check.click();
    await settled();
    expect(check.checked).toBe(false);
    expect(said(element)).toBe(error);
  });

  it('shows what does not hold yet', () => {
    const pending = { summary_mode: 'from the next call', planning_interval: 'from step 4' };
    const { element } = show(running(), undefined, { settings: { ...SETTINGS, pending } });
    expect([...element.querySelectorAll('.jp-AgentMagic-pending')].map(node => node.textContent)).toEqual([
      'from the next call',
      'from step 4'
    ]);
  });

  it('says that the kernel is busy, and the late reply when it comes', async () => {
    vi.useFakeTimers();
    let answer: (reply: Reply) => void = () => undefined;
    const { element } = show(running(), () => new Promise(resolve => (answer = resolve)));
    buttonOf(element, WORDS.stop).click();
    await vi.advanceTimersByTimeAsync(BUSY_MS + 10);
    expect(said(element)).toBe(WORDS.busy);
    answer({ v: 1, ok: true, effective: 'now' });
    await vi.advanceTimersByTimeAsync(10);
    expect(said(element)).toBe('Stop: now');
  });

  it('says what to do when nothing can be sent', async () => {
    const { element } = show(running(), () => Promise.reject(new Error('No kernel runs for this view.')));
    buttonOf(element, WORDS.stop).click();
    await settled();
    expect(said(element)).toBe('No kernel runs for this view.');
  });

  it('stay after the end, but for those of the run', () => {
    const { element } = show(run());
    expect(element.querySelector('select')).not.toBeNull();
    expect(element.querySelector('.jp-AgentMagic-progress')).toBeNull();
    expect([...element.querySelectorAll('button')].find(one => one.textContent === WORDS.replanNow)?.hidden).toBe(true);
  });
});

describe('a step', () => {
  const STEP = action(1, {
    thought: '**Oslo** first.\n- then Bergen',
    reasoning: 'hm',
    calls: [
      call('mean_price', { city: 'Oslo', where: { rooms: { least: 2, most: 3 }, kinds: ['flat', 'house', 'boat', 'hut'] } }, {
        observation: '4321.5',
        printed: 'dropped 2 rows',
        notes: ['city read as text'],
        bound_to: 'price_1',
        output: { type: 'float' },
        duration_s: 0.012
      }),
      call('broken', '{"city": ', { id: 'c2', error: { kind: 'ToolError', message: 'No city.\nUse Oslo.' } })
    ],
    changes: ['added price_1: float', 'deleted tmp: int'],
    usage: USAGE,
    notes: [{ text: 'summary_mode is all' }, { text: 'slow', is_warning: true }]
  });

  it('is one line while it is closed', () => {
    const { element } = show(run({ steps: [STEP] }));
    const [row] = rowsOf(element);
    expect(row?.textContent).toBe(
      '1mean_price(city="Oslo", where={"rooms": {"least": 2, "most": …) → price_1: float · broken({"city":) ✗ ToolError' +
        '1 warning1,620 tokens · 1.3 s'
    );
    expect(row?.querySelectorAll('*').length).toBeLessThan(8);
  });

  it('shows all of its record when it is opened', () => {
    const { element } = show(run({ steps: [STEP] }), null);
    openAll(element);
    const text = rowsOf(element)[0]?.querySelector('.jp-AgentMagic-content')?.textContent ?? '';
    for (const part of [
      '**Oslo** first.\n- then Bergen',
      'Reasoning',
      'hm',
      'mean_price12 ms',
      'city"Oslo"',
      'kinds["flat", "house", "boat", "hut"]',
      '(city read as text)',
      'Printeddropped 2 rows',
      'Observation4321.5',
      'Kept as price_1 float',
      'Arguments as written{"city": ',
      'ToolErrorNo city.\nUse Oslo.',
      'added price_1: float',
      'deleted tmp: int',
      'summary_mode is all',
      '⚠ slow',
      '1,500 tokens in (1,000 cached), 120 out · 1.3 s'
    ]) {
      expect(text).toContain(part);
    }
  });

  it('makes the parts of a nested value only when they are opened', () => {
    const { element } = show(run({ steps: [STEP] }), null);
    buttonOf(element, rowsOf(element)[0]?.querySelector('button')?.textContent ?? '').click();
    expect(element.querySelector('.jp-AgentMagic-tree table')).toBeNull();
    element.querySelector<HTMLElement>('.jp-AgentMagic-tree button')?.click();
    expect(element.querySelector('.jp-AgentMagic-tree table')).not.toBeNull();
  });

  it('stays open when it is sent anew, and in a view made later', async () => {
    const { element, store } = show(run({ steps: [STEP] }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    store.take(numbered([{ kind: 'step', place: 0, step: action(1, { thought: 'edited' }) }])[0] as never);
    await settled();
    expect(element.querySelector('.jp-AgentMagic-content')?.textContent).toContain('edited');
    const second = document.createElement('div');
    mountRun(second, store, null);
    expect(second.querySelector('.jp-AgentMagic-content')?.textContent).toContain('edited');
  });

  it('shows a plan and how it differs from the one before', () => {
    const steps = [
      plan(1, '1. Look.\n2. Answer.', {
        n_items: 2,
        original: '1. Answer.',
        diff: { n_added: 1, n_dropped: 2, n_kept: 1, added: ['1. Look.'], dropped: ['1. Ask.'], kept: ['2. Answer.'] }
      }),
      plan(2, '', { error: { kind: 'GenerationError', message: '503' } })
    ];
    const { element } = show(run({ steps }), null);
    expect(rowsOf(element).map(row => row.textContent)).toEqual([
      'Plan: 2 steps · 1 added, 2 dropped0.4 s',
      '✗ Plan: GenerationError: 5030.4 s'
    ]);
    openAll(element);
    const text = rowsOf(element)[0]?.textContent;
    expect(text).toContain('1. Look.\n2. Answer.');
    expect(text).toContain('Added1. Look.');
    expect(text).toContain('Dropped1. Ask.… 1 line not shown here …');
    expect(text).toContain('Kept (1)2. Answer.');
    expect(text).toContain('As the model wrote it1. Answer.');
  });

  it('says how the model is shown it', () => {
    const laid_on = { view: 'hidden', is_pinned: true, edited_by: 'person', edited_at: '2027-01-15T08:00:00Z' } as const;
    const { element } = show(run({ steps: [action(1, { laid_on })] }));
    expect(element.querySelector('.jp-AgentMagic-labels')?.textContent).toBe(
      'hidden from the model · pinned · edited by person, 2027-01-15 08:00 UTC'
    );
  });

  it('sets its view and its pin', async () => {
    const { element, requests } = show(run());
    rowsOf(element)[1]?.querySelector('button')?.click();
    await settled();
    const select = rowsOf(element)[1]?.querySelector('select') as HTMLSelectElement;
    select.value = 'hidden';
    select.dispatchEvent(new Event('change'));
    await settled();
    buttonOf(rowsOf(element)[1] as Element, WORDS.pin).click();
    await settled();
    expect(requests).toEqual([
      { verb: 'set_view', place: 1, view: 'hidden' },
      { verb: 'set_pinned', place: 1, value: true }
    ]);
    expect(rowsOf(element)[1]?.textContent).toContain('hidden from the model · pinned');
    expect(buttonOf(rowsOf(element)[1] as Element, WORDS.pin).getAttribute('aria-pressed')).toBe('true');
  });

  it('sends only what was edited, and keeps what is typed while the step is drawn anew', async () => {
    const { element, requests, store } = show(run({ steps: [priced(1)] }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    buttonOf(element, WORDS.edit).click();
    const fields = (): HTMLTextAreaElement[] => [...element.querySelectorAll('textarea')];
    expect(fields().map(field => field.value)).toEqual(['', '{\n  "city": "Oslo"\n}', '4321.5']);
    fields().forEach((field, i) => {
      field.value = ['', '{"city": "Bergen"}', '1'][i] ?? '';
    });
    store.layOn(0, { is_pinned: true });
    await settled();
    expect(fields()[2]?.value).toBe('1');
    buttonOf(element, WORDS.save).click();
    await settled();
    expect(requests).toEqual([
      {
        verb: 'edit_step',
        place: 0,
        changes: { arguments: { call_mean_price: { city: 'Bergen' } }, observations: { call_mean_price: '1' } }
      }
    ]);
    expect(fields()).toHaveLength(0);
    expect(rowsOf(element)[0]?.textContent).toContain('mean_price(city="Bergen") → 1');
  });

  it.each(['{"city": ', '[1]', '"x"', 'null'])('does not send arguments that are %s', async typed => {
    const { element, requests } = show(run({ steps: [priced(1)] }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    buttonOf(element, WORDS.edit).click();
    (element.querySelectorAll('textarea')[1] as HTMLTextAreaElement).value = typed;
    buttonOf(element, WORDS.save).click();
    await settled();
    expect(requests).toEqual([]);
    expect(element.querySelector('[role=alert]')?.textContent).not.toBe('');
  });

  it('keeps the form when the kernel refuses', async () => {
    const { element } = show(run({ steps: [priced(1)] }), () => ({ v: 1, ok: false, error: 'It cannot be.' }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    buttonOf(element, WORDS.edit).click();
    (element.querySelector('textarea') as HTMLTextAreaElement).value = 'x';
    buttonOf(element, WORDS.save).click();
    await settled();
    expect(element.querySelector('textarea')?.value).toBe('x');
    expect(said(element)).toContain('It cannot be.');
  });

  it('draws the first of 200 calls, and all on demand', () => {
    const calls = Array.from({ length: 200 }, (_, i) => call('look', { i }, { id: `c${i}` }));
    const { element } = show(run({ steps: [action(1, { calls })] }), null);
    rowsOf(element)[0]?.querySelector('button')?.click();
    expect(element.querySelectorAll('.jp-AgentMagic-call')).toHaveLength(20);
    buttonOf(element, 'Show all (180 more calls)').click();
    expect(element.querySelectorAll('.jp-AgentMagic-call')).toHaveLength(200);
  });

  it('cuts a text of 10 MB, and shows more of it on demand', () => {
    const observation = 'x'.repeat(10_000_000);
    const { element } = show(run({ steps: [action(1, { calls: [call('look', {}, { observation })] })] }), null);
    rowsOf(element)[0]?.querySelector('button')?.click();
    expect(element.querySelector('pre')?.textContent).toHaveLength(MAX_SHOWN);
    buttonOf(element, 'Show more (9,900,000 characters)').click();
    expect(element.querySelector('pre')?.textContent).toHaveLength(2 * MAX_SHOWN);
  });

  it('draws pictures, says of others that they cannot be shown, and words as they are', () => {
    const images = [
      'data:image/png;base64,iVBORw0KGgo=',
      'data:image/svg+xml;base64,PHN2Zz4=',
      'data:text/html,x',
      'image 1200 × 800'
    ];
    const { element } = show(run({ steps: [action(1, { calls: [call('plot', {}, { images })] })] }), null);
    openAll(element);
    expect([...element.querySelectorAll('img')].map(image => image.getAttribute('src'))).toEqual([images[0]]);
    element.querySelector('img')?.dispatchEvent(new Event('error'));
    expect(element.textContent?.split(WORDS.imageBroken)).toHaveLength(4);
    expect(element.textContent).toContain('image 1200 × 800');
  });

  it('copies a text as it is shown', async () => {
    const written: string[] = [];
    vi.stubGlobal('navigator', { clipboard: { writeText: (text: string) => Promise.resolve(written.push(text)) } });
    const steps = [action(1, { calls: [call('look', {}, { observation: '\x1b[31mred\u202e' })] })];
    const { element } = show(run({ steps }), null);
    rowsOf(element)[0]?.querySelector('button')?.click();
    buttonOf(element, WORDS.copy).click();
    await settled();
    expect(written).toEqual(['red⟨U+202E⟩']);
    vi.unstubAllGlobals();
  });
});

describe('the end', () => {
  it('shows the answer with its type, and what the checks said', () => {
    const { element } = show(
      run({
        answer: { type: 'dict', shape: '1 item', text: '{"a": 1}' },
        verified: 'no',
        checks: [
          { name: 'is_text', passed: true },
          { name: 'is_short', passed: false, reason: 'too long' }
        ]
      })
    );
    expect(element.querySelector('.jp-AgentMagic-panel')?.textContent).toBe(
      'Refused by a check, no answer · dict, 1 item{"a": 1}CopyCheck passed: is_text⚠ Check refused: is_short: too long'
    );
  });

  it('shows an error and a best guess', () => {
    const error = { kind: 'BudgetError', message: 'max_total_tokens is 2,000.' };
    const { element } = show(run({ status: 'budget', error, answer: { type: 'NoneType', text: '' } }));
    expect([...element.querySelectorAll('.jp-AgentMagic-panel')].map(node => node.textContent)).toEqual([
      'BudgetErrormax_total_tokens is 2,000.Copy',
      'Best guess, no answerThe answer is None.'
    ]);
  });
});

describe('a view', () => {
  it('of one step shows that step, opened, and nothing of the rest', () => {
    const { element } = show(run({ steps: [priced(1), plan(2, 'Answer.'), priced(2)] }), undefined, { step: 2 });
    expect(rowsOf(element)).toHaveLength(2);
    expect(element.querySelectorAll('.jp-AgentMagic-content')).toHaveLength(2);
    expect(element.textContent).not.toContain('Which city is dearer?');
    expect(element.querySelector('.jp-AgentMagic-panel')).toBeNull();
  });

  it('says that steps are left out', () => {
    const { element } = show(run({ steps: [1, 99, 100].map(priced), steps_left_out: 97, n_steps: 100 }));
    expect(rowsOf(element)[1]?.textContent).toBe('… 97 steps not shown here …');
  });

  it('says in a plain line that a newer agent_magic is needed', async () => {
    const { element, store } = show(running());
    store.take({ v: 1, n: 1, kind: 'hologram' } as never);
    await settled();
    expect(element.querySelector('.jp-AgentMagic-notice')?.textContent).toBe(WORDS.newer);
  });

  it('says how many messages were missed, once the run is over', () => {
    const { element, store } = show(running());
    store.take({ v: 1, n: 3, kind: 'end', head: run() });
    expect(element.querySelector('.jp-AgentMagic-notice')?.textContent).toBe(`2 messages ${WORDS.missed}`);
  });

  it('asks nothing of the kernel by itself', async () => {
    const { requests, store } = show(running());
    store.take({ v: 1, n: 3, kind: 'step', place: 5, step: priced(6) });
    await settled();
    expect(requests).toEqual([]);
  });

  it('shows the same run in three places', async () => {
    const store = storeOf(running());
    const places = [1, 2, 3].map(() => document.createElement('div'));
    places.forEach(place => mountRun(place, store, null));
    store.take(numbered([{ kind: 'step', place: 2, step: priced(3) }])[0] as never);
    await settled();
    expect(places.map(place => rowsOf(place).length)).toEqual([4, 4, 4]);
  });

  it('leaves nothing behind', async () => {
    const { element, store, dispose } = show(running());
    dispose();
    expect(element.childNodes).toHaveLength(0);
    store.take(numbered([{ kind: 'step', place: 2, step: priced(3) }])[0] as never);
    await settled();
    expect(element.childNodes).toHaveLength(0);
  });

  it('is not steered by the shortcuts of the notebook', () => {
    const { element } = show(run());
    const typedAt = [...element.querySelectorAll('.jp-AgentMagic-run, [role=list], button, input, select')];
    expect(typedAt.length).toBeGreaterThan(4);
    expect(typedAt.filter(node => !node.hasAttribute('data-lm-suppress-shortcuts'))).toEqual([]);
  });
});
