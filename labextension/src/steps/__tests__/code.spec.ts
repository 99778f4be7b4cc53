import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { afterEach, describe, expect, it, vi } from 'vitest';

import type { CallRecord, Message, NowRecord, Snapshot } from '../../protocol';
import { fromRecord } from '../record';
import { RunStore } from '../store';
import { callTitle, codeLine } from '../titles';
import { mountRun } from '../view';
import { WORDS } from '../words';
import { action, buttonOf, call, codeCall, numbered, openAll, rowsOf, run, running, settled, show } from './samples';

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

const CODE = `import pandas as pd

# Both cities, side by side
for city in ["Oslo", "Bergen"]:
    print(city, mean_price(city=city))`;
const INNER = [
  call('mean_price', { city: 'Oslo' }, { id: 'c1', observation: '4321.5', duration_s: 0.012 }),
  call('mean_price', { city: 'Bergen' }, { id: 'c2', error: { kind: 'ToolError', message: 'No city.\nUse Oslo.' } })
];
const DONE = codeCall(CODE, { calls: INNER, observation: 'Oslo 4321.5', duration_s: 0.3 });

const many = (n: number, fields: Partial<CallRecord> = {}): CallRecord[] =>
  Array.from({ length: n }, (_, i) => call('look', { i }, { id: `c${i}`, observation: 'x', ...fields }));
const coded = (fields: Partial<CallRecord>): ReturnType<typeof action> => action(1, { calls: [{ ...DONE, ...fields }] });
const innerOf = (element: Element): HTMLButtonElement[] => [
  ...element.querySelectorAll<HTMLButtonElement>('.jp-AgentMagic-inner-calls > .jp-AgentMagic-fold > button')
];
const textsOf = (nodes: Iterable<Element>): string[] => [...nodes].map(node => node.textContent ?? '');

/** A run of one step, opened. */
function opened(fields: Partial<CallRecord> = {}, mode = 'code'): HTMLElement {
  const { element } = show(run({ mode, steps: [coded(fields)] }), null);
  rowsOf(element)[0]?.querySelector('button')?.click();
  return element;
}

describe('a step that is code', () => {
  it('is one line while it is closed: what the code begins with, and what came of it', () => {
    const { element } = show(run({ mode: 'code', steps: [coded({})] }));
    expect(rowsOf(element)[0]?.textContent).toBe('1for city in ["Oslo", "Bergen"]: … (5 lines, 2 calls) → Oslo 4321.51.3 s');
  });

  it.each([
    ['x = 1', 'x = 1'],
    ['\n\nx = 1\n', 'x = 1'],
    ['import re', 'import re'],
    ['from a import b\nimport re\n\n# three\nx = 1', 'x = 1 …'],
    ['@cached\ndef f(): ...', 'def f(): ... …'],
    ['prices = {}\ntry:\n    look("Oslo")\nexcept OSError: ...', 'look("Oslo") …'],
    ['', ''],
    [`x = "${'y'.repeat(200)}"`, `x = "${'y'.repeat(84)}…`],
    ['\u202ex', '⟨U+202E⟩x']
  ])('begins for %j with %j', (code, line) => {
    expect(codeLine(code)).toBe(line);
  });

  it.each([
    [{ output: { type: 'DataFrame', shape: '3 rows × 2 columns' } }, 'DataFrame, 3 rows × 2 columns'],
    [{ output: { type: 'dict', shape: '1 item', preview: '{"a": 1}' } }, '{"a": 1}'],
    [{ output: { type: 'dict', shape: '2 items', preview: '{"a": 1}\nmore' } }, 'dict, 2 items'],
    [{ output: { type: 'float' } }, 'float'],
    [{ observation: 'first\nlast\n\n' }, 'last'],
    [{ observation: 'The code ran. It printed nothing, and its last line has no value.' }, ''],
    [{ observation: "looked\nThe answer was given: 'Oslo'" }, "'Oslo'"],
    [{ observation: 'accepted' }, '']
  ])('says on its line what came of it: %j', (fields, outcome) => {
    expect(callTitle(codeCall('x = 1', fields)).outcome).toBe(outcome);
  });

  it('says on its line that it failed', () => {
    const error = { kind: 'CodeExecutionError', message: "KeyError: 'Oslo!'\n  line 1" };
    const { element } = show(run({ mode: 'code', steps: [coded({ error })] }));
    expect(rowsOf(element)[0]?.textContent).toContain("2 calls) ✗ CodeExecutionError: KeyError: 'Oslo!'");
  });

  it('shows the code as it was written, in colours, each a text in a span', () => {
    const pre = opened().querySelector('pre');
    expect(pre?.textContent).toBe(CODE);
    expect([...(pre?.children ?? [])].filter(node => node.tagName !== 'SPAN' || node.childElementCount)).toEqual([]);
    expect(textsOf(pre?.querySelectorAll('.jp-AgentMagic-is-string') ?? [])).toEqual(['"Oslo"', '"Bergen"']);
  });

  it('copies the code, without a colour', async () => {
    const written: string[] = [];
    vi.stubGlobal('navigator', { clipboard: { writeText: (text: string) => Promise.resolve(written.push(text)) } });
    buttonOf(opened(), WORDS.copy).click();
    await settled();
    expect(written).toEqual([CODE]);
  });

  it('shows what was printed before it failed, and then why it did', () => {
    const element = opened({ error: { kind: 'CodeExecutionError', message: 'boom' } });
    expect(element.querySelector('.jp-AgentMagic-content')?.textContent).toContain(
      'ObservationOslo 4321.5CopyCodeExecutionErrorboomCopy'
    );
  });

  it('shows notes, how long it took, and pictures', () => {
    const images = ['data:image/png;base64,iVBORw0KGgo=', 'image 1200 × 800'];
    const element = opened({ notes: ['df was put back'], images });
    const text = element.querySelector('.jp-AgentMagic-call')?.textContent ?? '';
    expect(text.startsWith('Code0.3 s')).toBe(true);
    expect(text).toContain('(df was put back)');
    expect(text).toContain('image 1200 × 800');
    expect(element.querySelectorAll('img')).toHaveLength(1);
  });

  it('says that it was edited, and shows in lines what a person wrote', () => {
    const notes = ['the person changed the arguments to this code:\nx = 1\nprint(x)'];
    const element = opened({ is_edited: true, notes });
    expect(element.querySelector('.jp-AgentMagic-call-head')?.textContent).toBe('Code, as it was changed0.3 s');
    expect(textsOf(element.querySelectorAll('pre'))[0]).toBe('x = 1\nprint(x)');
    expect(rowsOf(element)[0]?.querySelector('button')?.textContent).toContain('print(x) … (as edited, 2 lines, 2 calls) →');
    buttonOf(element, WORDS.asModelWrote).click();
    expect(textsOf(element.querySelectorAll('pre'))[1]).toBe(CODE);
    expect(element.textContent).not.toContain('the person changed');
  });

  it('without a call has no list of calls', () => {
    expect(opened({ calls: [] }).querySelector('.jp-AgentMagic-inner-calls')).toBeNull();
  });
});

describe('the calls that code made', () => {
  it('are rows, closed, that can be reached and opened by keyboard', () => {
    const element = opened();
    const rows = innerOf(element);
    expect(textsOf(rows)).toEqual([
      'mean_price(city="Oslo") → 4321.512 ms',
      'mean_price(city="Bergen") ✗ ToolError: No city.'
    ]);
    expect(rows.map(row => [row.tagName, row.type, row.tabIndex, row.getAttribute('aria-expanded')])).toEqual(
      new Array(2).fill(['BUTTON', 'button', 0, 'false'])
    );
  });

  it('show when they are opened what any call shows, and stay open when the step is drawn anew', async () => {
    const { element, store } = show(run({ mode: 'code', steps: [coded({})] }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    innerOf(element)[1]?.click();
    const inside = (): string => innerOf(element)[1]?.parentElement?.querySelector('.jp-AgentMagic-call')?.textContent ?? '';
    expect(inside()).toBe('mean_pricecity"Bergen"ToolErrorNo city.\nUse Oslo.Copy');
    store.layOn(0, { is_pinned: true });
    await settled();
    expect(inside()).toContain('Use Oslo.');
    expect(innerOf(element)[0]?.getAttribute('aria-expanded')).toBe('false');
  });

  it('are counted, and of many the first are shown, all on demand', () => {
    const element = opened({ calls: many(50) });
    expect(element.textContent).toContain('Calls (50)');
    expect(innerOf(element)).toHaveLength(8);
    buttonOf(element, 'Show all (42 more calls)').click();
    expect(innerOf(element)).toHaveLength(50);
  });

  it('say where some are left out', () => {
    const element = opened({ calls: many(6), calls_left_out: 9_994 });
    expect(element.textContent).toContain('Calls (10,000)');
    const lines = textsOf(element.querySelector('.jp-AgentMagic-inner-calls')?.children ?? []);
    expect(lines[2]).toBe('… 9,994 calls not shown here …');
    expect(lines).toHaveLength(7);
  });

  it('are said to be left out where none is held', () => {
    expect(opened({ calls: [], calls_left_out: 3 }).textContent).toContain('Calls (3)… 3 calls not shown here …');
  });

  it('cost the page nothing while the step is closed', () => {
    const { element } = show(run({ mode: 'code', steps: [coded({ calls: many(5_000) })] }));
    expect(rowsOf(element)[0]?.querySelectorAll('*').length).toBeLessThan(8);
  });

  it('hold no further ones, however deep a record says that they go', () => {
    let deep: object = { id: 'x', name: 'x', arguments: {} };
    for (let i = 0; i < 20_000; i++) {
      deep = { id: `${i}`, name: 'look', arguments: {}, code: 'x', calls: [deep] };
    }
    const snapshot = fromRecord({ ...run(), steps: [{ step_number: 1, duration_s: 1, calls: [deep] }] });
    const [step] = snapshot?.run.steps ?? [];
    const outer = step && 'calls' in step ? step.calls?.[0] : undefined;
    expect(outer?.calls).toHaveLength(1);
    expect(outer?.calls?.[0]).not.toHaveProperty('calls');
  });
});

describe('code that is being written', () => {
  it('grows below the thought, in the same text node', async () => {
    const { element, store } = show(running({}, { mode: 'code' }));
    numbered([
      { kind: 'text', field: 'thought', at: 0, add: 'Both at once.' },
      { kind: 'text', field: 'code', at: 0, add: 'for city in' }
    ]).forEach(message => store.take(message));
    await settled();
    const body = element.querySelector('.jp-AgentMagic-is-now .jp-AgentMagic-step-body') as HTMLElement;
    expect(textsOf(body.children)).toEqual(['Both at once.', 'for city in']);
    expect(body.lastElementChild?.tagName).toBe('PRE');
    const node = body.lastElementChild?.firstChild;
    store.take(numbered([{ kind: 'text', field: 'code', at: 11, add: ' cities:\n' }], 3)[0] as never);
    await settled();
    expect(body.lastElementChild?.firstChild).toBe(node);
    expect(node?.textContent).toBe('for city in cities:\n');
    expect(element.querySelector('.jp-AgentMagic-doing')?.textContent).toBe('writing code');
  });

  it('is not shown twice once it runs, or is asked about', async () => {
    const { element, store } = show(running({ thought: 'so', code: 'x = 1' }, { mode: 'code' }));
    const asked = { id: 'q', items: [{ id: 'i', digest: 'd', kind: 'call', name: 'python', code: 'x = 1' }] };
    store.take(numbered([{ kind: 'now', now: { step_number: 3, doing: 'asking', asked } }])[0] as never);
    await settled();
    expect(textsOf(element.querySelectorAll('pre'))).toEqual(['x = 1']);
    const calls = [codeCall('x = 1')];
    store.take(numbered([{ kind: 'now', now: { step_number: 3, doing: 'calling', calls, running: ['call_1'] } }], 2)[0] as never);
    await settled();
    expect(textsOf(element.querySelectorAll('pre'))).toEqual(['x = 1']);
    expect(element.querySelector('.jp-AgentMagic-is-growing')?.textContent).toBe('so');
  });

  it('is shown rather than the reasoning', async () => {
    const { element } = show(running({ reasoning: 'hm', code: 'x' }, { mode: 'code' }));
    await settled();
    expect(textsOf(element.querySelectorAll('.jp-AgentMagic-is-growing'))).toEqual(['x']);
  });
});

describe('code that runs', () => {
  const nowOf = (calls: CallRecord[], runs: string[], fields: Partial<CallRecord> = {}): NowRecord => ({
    step_number: 3,
    doing: 'calling',
    calls: [codeCall(CODE, { calls, ...fields })],
    running: ['call_1', ...runs]
  });
  const OPEN = call('mean_price', { city: 'Oslo' }, { id: 'c1' });
  const nowNode = (element: Element): HTMLElement => element.querySelector('.jp-AgentMagic-now-code') as HTMLElement;

  it('is marked, and said in words with the calls that run', () => {
    const { element } = show(running(nowOf([OPEN], ['c1']), { mode: 'code' }));
    expect(element.querySelector('.jp-AgentMagic-doing')?.textContent).toBe('running code, calling mean_price');
    expect(element.querySelector('.jp-AgentMagic-is-now > button')?.textContent).toBe('3running code');
    expect(nowNode(element).querySelector('.jp-AgentMagic-dot')).not.toBeNull();
    expect(nowNode(element).querySelector('pre')?.textContent).toBe(CODE);
    expect(textsOf(innerOf(element))).toEqual(['mean_price(city="Oslo") → …']);
  });

  it('shows its calls as they come, and leaves in the page what is there', async () => {
    const { element, store } = show(running(nowOf([], []), { mode: 'code' }));
    const pre = element.querySelector('pre');
    expect(innerOf(element)).toHaveLength(0);
    const first = nowOf([OPEN], ['c1']);
    store.take(numbered([{ kind: 'now', now: first }])[0] as never);
    await settled();
    expect(innerOf(element)[0]?.parentElement?.className).toContain('is-running');
    innerOf(element)[0]?.click();
    const second = nowOf([INNER[0] as CallRecord, call('look', {}, { id: 'c9' })], ['c9']);
    store.take(numbered([{ kind: 'now', now: second }], 2)[0] as never);
    await settled();
    expect(textsOf(innerOf(element))).toEqual(['mean_price(city="Oslo") → 4321.512 ms', 'look() → …']);
    expect(innerOf(element)[0]?.getAttribute('aria-expanded')).toBe('true');
    expect(element.querySelector('pre')).toBe(pre);
    const kept = innerOf(element)[0];
    store.take(numbered([{ kind: 'now', now: { ...second, notes: [{ text: 'slow' }] } }], 3)[0] as never);
    await settled();
    expect(innerOf(element)[0]).toBe(kept);
  });

  it('shows the newest of thousands, and those before on demand', async () => {
    const calls = many(60);
    const { element } = show(running(nowOf(calls, ['c59'], { calls_left_out: 9_940 }), { mode: 'code' }));
    expect(element.querySelector('.jp-AgentMagic-now-code')?.textContent).toContain('Calls (10,000)');
    expect(textsOf(innerOf(element))).toHaveLength(8);
    expect(innerOf(element).at(-1)?.textContent).toBe('look(i=59) → …');
    buttonOf(element, 'Show earlier (52 calls)').click();
    await settled();
    expect(innerOf(element)).toHaveLength(60);
    const lines = textsOf(element.querySelector('.jp-AgentMagic-inner-calls')?.children ?? []);
    expect(lines[20]).toBe('… 9,940 calls not shown here …');
  });

  it('has a row for each of two calls with one id', () => {
    const twice = [OPEN, { ...OPEN, arguments: { city: 'Bergen' } }];
    const { element } = show(running(nowOf(twice, []), { mode: 'code' }));
    expect(textsOf(innerOf(element))).toEqual(['mean_price(city="Oslo")', 'mean_price(city="Bergen")']);
  });

  it('draws 2,000 calls that come one by one without keeping the page', async () => {
    const { element, store } = show(running(nowOf([], []), { mode: 'code' }));
    const calls = many(60);
    const start = performance.now();
    for (let i = 0; i < 2_000; i++) {
      const shown = [...calls.slice(0, 20), ...calls.slice(20).map((one, at) => ({ ...one, id: `n${i + at}` }))];
      store.take(numbered([{ kind: 'now', now: nowOf(shown, [`n${i + 39}`], { calls_left_out: i }) }], i + 1)[0] as never);
      if (i % 50 === 0) {
        await settled();
      }
    }
    await settled();
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(innerOf(element)).toHaveLength(8);
    expect(element.querySelectorAll('*').length).toBeLessThan(200);
  });

  it('shows what came of it before the step is whole', async () => {
    const { element, store } = show(running(nowOf([], []), { mode: 'code' }));
    const now = { step_number: 3, doing: 'thinking', calls: [DONE] };
    store.take(numbered([{ kind: 'now', now }])[0] as never);
    await settled();
    expect(nowNode(element).textContent).toContain('ObservationOslo 4321.5');
    expect(nowNode(element).querySelector('.jp-AgentMagic-dot')).toBeNull();
  });
});

describe('the head', () => {
  const chips = (mode: string): string[] => textsOf(show(run({ mode })).element.querySelectorAll('.jp-AgentMagic-chip'));

  it('says that a run is of code', () => {
    expect(chips('code')).toEqual(['code', 'answered', 'unchecked']);
  });

  it('says nothing of tools, which is the rule', () => {
    expect(chips('tools')).toEqual(['answered', 'unchecked']);
  });
});

describe('a step of code that a person edits', () => {
  it('is edited as code, and sends only what was changed', async () => {
    const { element, requests } = show(run({ mode: 'code', steps: [coded({})] }));
    rowsOf(element)[0]?.querySelector('button')?.click();
    buttonOf(element, WORDS.edit).click();
    const fields = [...element.querySelectorAll('textarea')];
    expect(fields.map(field => field.closest('label')?.textContent)).toEqual(['Thought', 'Code', 'Observation']);
    expect(fields[1]?.value).toBe(CODE);
    (fields[1] as HTMLTextAreaElement).value = 'print(1)';
    buttonOf(element, WORDS.save).click();
    await settled();
    const changes = { arguments: { call_1: { code: 'print(1)' } } };
    expect(requests).toEqual([{ verb: 'edit_step', place: 0, changes }]);
    expect(element.querySelector('.jp-AgentMagic-content pre')?.textContent).toBe('print(1)');
    expect(rowsOf(element)[0]?.textContent).toContain('print(1) (2 calls) → Oslo 4321.5');
  });
});

describe('a run of code that the kernel tells of', () => {
  const FILE = resolve(import.meta.dirname, '../../../../tests/view/wire/code.json');
  const { snapshot, messages } = JSON.parse(readFileSync(FILE, 'utf8')) as { snapshot: Snapshot; messages: Message[] };

  /** The page after the last message for which `isLast` holds. */
  async function after(isLast: (message: Message) => boolean): Promise<HTMLElement> {
    const store = new RunStore();
    store.reset(snapshot);
    mountRun(document.body, store, null);
    const last = messages.map(isLast).lastIndexOf(true);
    expect(last).toBeGreaterThan(0);
    messages.slice(0, last + 1).forEach(message => store.take(message));
    await settled();
    return document.body;
  }

  it('shows code grow', async () => {
    const page = await after(message => message.kind === 'text' && message.field === 'code' && message.add !== '');
    expect(page.querySelector('pre')?.textContent).toContain('final_answer(');
    expect(page.textContent).not.toContain('<code>');
  });

  it('shows a call that the code makes', async () => {
    const page = await after(message => message.kind === 'now' && (message.now?.running?.length ?? 0) > 1);
    expect(page.querySelector('.jp-AgentMagic-inner-calls .jp-AgentMagic-is-running')).not.toBeNull();
    expect(page.querySelector('.jp-AgentMagic-doing')?.textContent).toBe('running code, calling mean_price');
  });

  it('asks for approval of the code itself', async () => {
    const page = await after(message => message.kind === 'now' && message.now?.asked !== undefined);
    expect(page.querySelector('[role=group] pre')?.textContent).toContain('final_answer(');
  });

  it('ends with steps that show code, calls and what came of them', async () => {
    const page = await after(message => message.kind === 'end');
    openAll(page);
    expect(textsOf(page.querySelectorAll('pre')).some(text => text.includes('mean_price(city=city'))).toBe(true);
    expect(innerOf(page).length).toBeGreaterThan(1);
    expect(page.querySelector('.jp-AgentMagic-chip')?.textContent).toBe('code');
    expect(page.textContent).not.toContain('python()');
  });
});
