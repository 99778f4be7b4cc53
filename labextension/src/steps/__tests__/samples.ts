/** Runs, snapshots and a mounted view for the tests of `steps/`. */
import { expect } from 'vitest';

import type {
  CallRecord,
  LaidOnRecord,
  LaneRecord,
  Message,
  NowRecord,
  PlanRecord,
  PreviewRecord,
  Reply,
  RequestBody,
  RunRecord,
  SettingsRecord,
  Snapshot,
  StepRecord,
  UsageRecord
} from '../../protocol';
import { RunStore } from '../store';
import { mountRun } from '../view';
import type { Ask } from '../view';

export const USAGE: UsageRecord = {
  input_tokens: 1_500,
  output_tokens: 120,
  cached_tokens: 1_000,
  reasoning_tokens: null,
  cost_usd: 0.00315
};
export const SETTINGS: SettingsRecord = {
  summary_mode: 'plan',
  planning_interval: null,
  is_paused: false,
  max_steps: 20,
  approve: 'never',
  pending: {}
};

export function call(name: string, given: CallRecord['arguments'], fields: Partial<CallRecord> = {}): CallRecord {
  return { id: `call_${name}`, name, arguments: given, ...fields };
}

/** The run of a managed agent. */
export function laneOf(agent: string, fields: Partial<LaneRecord> = {}): LaneRecord {
  return {
    run_id: agent,
    agent,
    model: agent,
    mode: 'tools',
    status: 'answered',
    max_steps: 20,
    n_steps: 2,
    duration_s: 1.5,
    usage: USAGE,
    steps: [priced(1), priced(2)],
    steps_left_out: 0,
    answer: { type: 'str', text: 'Oslo.' },
    error: null,
    ...fields
  };
}

/** A block of code. */
export function codeCall(code: string, fields: Partial<CallRecord> = {}): CallRecord {
  return { id: 'call_1', name: 'python', arguments: {}, code, ...fields };
}

export function action(step_number: number, fields: Partial<StepRecord> = {}): StepRecord {
  return { step_number, duration_s: 1.3, ...fields };
}

export function plan(step_number: number, text: string, fields: Partial<PlanRecord> = {}): PlanRecord {
  return { kind: 'plan', step_number, duration_s: 0.4, plan: text, ...fields };
}

/** A step that calls a tool and is told a figure. */
export function priced(step_number: number): StepRecord {
  return action(step_number, {
    calls: [call('mean_price', { city: 'Oslo' }, { observation: '4321.5', duration_s: 0.012 })],
    usage: USAGE
  });
}

export function run(fields: Partial<RunRecord> = {}): RunRecord {
  return {
    version: 1,
    agent_magic: '1.0',
    run_id: 'run_1',
    agent: 'analyst',
    model: 'openai/gpt-5',
    why: null,
    mode: 'tools',
    status: 'answered',
    max_steps: 20,
    n_steps: 2,
    started: '2027-01-15T08:00:00.000+00:00',
    duration_s: 4.2,
    usage: USAGE,
    task: 'Which city is dearer?',
    images: [],
    variables: [],
    warnings: [],
    steps: [priced(1), priced(2)],
    steps_left_out: 0,
    answer: { type: 'str', text: 'Oslo.' },
    error: null,
    ...fields
  };
}

export function running(now: Partial<NowRecord> = {}, fields: Partial<RunRecord> = {}): RunRecord {
  return run({ status: 'running', answer: null, now: { step_number: 3, doing: 'thinking', ...now }, ...fields });
}

export function snapshot(record: RunRecord, fields: Partial<Snapshot> = {}): Snapshot {
  return { v: 1, n: 0, run: record, settings: SETTINGS, step: null, ...fields };
}

export function storeOf(record: RunRecord, fields: Partial<Snapshot> = {}): RunStore {
  const store = new RunStore();
  store.reset(snapshot(record, fields));
  return store;
}

/** Numbers messages from 1 (or `first`) on. */
export function numbered(messages: object[], first = 1): Message[] {
  return messages.map((message, i) => ({ v: 1, n: first + i, ...message }) as Message);
}

/** A run in the page, what was asked of the kernel, and a way to wait for what comes of it. */
export interface IShown {
  element: HTMLElement;
  store: RunStore;
  requests: RequestBody[];
  dispose: () => void;
}

/** `reply` answers requests; `null` draws without a kernel. */
export function show(
  record: RunRecord,
  reply: ((request: RequestBody) => Reply | Promise<Reply>) | null = () => ({ v: 1, ok: true, effective: 'now' }),
  fields: Partial<Snapshot> = {}
): IShown {
  const store = storeOf(record, fields);
  const element = document.createElement('div');
  document.body.append(element);
  const requests: RequestBody[] = [];
  const ask: Ask | null =
    reply &&
    (async request => {
      requests.push(request);
      return reply(request);
    });
  const mounted = mountRun(element, store, ask);
  return {
    element,
    store,
    requests,
    dispose: () => {
      mounted.dispose();
      element.remove();
    }
  };
}

/** Until the next frame is drawn and promises are kept. */
export async function settled(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 0));
  await new Promise(resolve => requestAnimationFrame(resolve));
  await new Promise(resolve => setTimeout(resolve, 0));
}

/** The button with this text, the `place`th of them. */
export function buttonOf(element: Element, words: string, place = 0): HTMLButtonElement {
  const found = [...element.querySelectorAll('button')].filter(
    button => button.textContent === words && !button.hidden
  )[place];
  expect(found, `a button that says ${words}`).toBeDefined();
  return found as HTMLButtonElement;
}

export function rowsOf(element: Element): HTMLElement[] {
  return [...element.querySelectorAll<HTMLElement>('[role=listitem]')];
}

/** Open everything that opens, also what that brings. */
export function openAll(element: Element): void {
  for (let found = 1; found > 0; ) {
    const closed = [...element.querySelectorAll<HTMLElement>('[aria-expanded=false]')].filter(
      node => !node.parentElement?.classList.contains('jp-AgentMagic-tools')
    );
    closed.forEach(node => {
      node.click();
    });
    found = closed.length;
  }
}

const LAID_ON = (text: string): LaidOnRecord => ({ view: 'hidden', is_pinned: true, edited_by: text, edited_at: text });

/** A call with a text in every field that holds text, `n` to tell calls apart. */
function fullCall(text: string, n: number): CallRecord {
  return {
    id: `${text}${n}`,
    name: text,
    arguments: { [text]: text, list: [text, { [text]: [text, text.repeat(2), { deep: text }] }], n: 1 },
    observation: text,
    notes: [text],
    printed: text,
    bound_to: text,
    duration_s: 0.1,
    output: { type: text, shape: text, preview: text }
  };
}

/** Code with a text in every field that holds text, and in every field of the calls that it made. */
function fullCode(text: string, n: number): CallRecord {
  const calls = [1, 2, 3].map(place => fullCall(text, 10 * n + place));
  const failed = { ...fullCall(text, 10 * n + 4), arguments: text, error: { kind: text, message: text } };
  return {
    ...fullCall(text, n),
    arguments: {},
    code: `${text}\n# ${text}\nx = "${text}"\n${text}\n"""\n${text}`,
    calls: [...calls, failed],
    calls_left_out: 5,
    is_edited: true,
    images: [text]
  };
}

/** The run of a managed agent with a text in every field that holds text. */
function fullLane(text: string, fields: Partial<LaneRecord> = {}): LaneRecord {
  const error = { kind: text, message: text };
  return {
    ...laneOf(text),
    status: 'failed',
    mode: text,
    verified: 'no',
    answer: { type: text, shape: text, text },
    error,
    steps: [action(1, { thought: text, calls: [{ id: text, name: text, arguments: text, observation: text, error }] }), plan(2, text, { error })],
    steps_left_out: 2,
    ...fields
  };
}

/** A run with a text in every field of every kind of record. */
export function runFullOf(text: string, status: RunRecord['status'] = 'failed'): RunRecord {
  const error = { kind: text, message: text };
  const notes = [{ text }, { text, is_warning: true }];
  const laid_on = LAID_ON(text);
  return run({
    agent_magic: text,
    run_id: text,
    agent: text,
    model: text,
    why: text,
    mode: text,
    status,
    started: text,
    task: `${text}\n${text}`,
    images: [text],
    variables: [{ name: text, description: text }],
    warnings: [text],
    task_laid_on: laid_on,
    resumed_from: text,
    verified: 'no',
    checks: [
      { name: text, passed: true },
      { name: text, passed: false, reason: text }
    ],
    answer: { type: text, shape: text, text },
    error,
    steps: [
      plan(1, text, {
        original: text,
        reasoning: text,
        diff: { n_added: 1, n_dropped: 1, n_kept: 1, added: [text], dropped: [text], kept: [text] },
        notes,
        laid_on
      }),
      plan(1, '', { error }),
      action(1, {
        thought: text,
        reasoning: text,
        calls: [
          fullCall(text, 1),
          { ...fullCall(text, 2), arguments: text, error },
          { ...fullCall(text, 4), run: fullLane(text), sounds: [{ words: text, url: text }, { words: text }] },
          { id: `${text}3`, name: 'draw', arguments: {}, images: [text] },
          fullCode(text, 5)
        ],
        changes: [text, `added ${text}`],
        error,
        usage: USAGE,
        notes,
        laid_on
      }),
      action(2, { thought: text }),
      action(3, { thought: text, calls: [{ ...fullCode(text, 6), error }] })
    ]
  });
}

function fullNow(text: string): NowRecord {
  return { step_number: 2, doing: 'waiting', thought: text, waiting: { reason: text, delay_s: 3, attempt: 1 }, notes: [{ text }] };
}

/** A run that goes on and is asking, with a text in every field of what happens now. */
export function runningFullOf(text: string): RunRecord {
  return {
    ...runFullOf(text, 'running'),
    steps: [action(1, { thought: text })],
    answer: null,
    error: null,
    now: {
      step_number: 3,
      doing: 'asking',
      thought: text,
      reasoning: text,
      code: text,
      calls: [
        { ...fullCall(text, 1), run: fullLane(text, { status: 'running', now: fullNow(text) }) },
        { ...fullCode(text, 7), code: text },
        fullCode(text, 8)
      ],
      running: [`${text}1`, `${text}7`, `${text}72`],
      waiting: { reason: text, delay_s: 3, attempt: 1 },
      asked: {
        id: text,
        items: [
          { id: `${text}1`, digest: text, kind: 'call', name: text, arguments: { [text]: text } },
          { id: `${text}2`, digest: text, kind: 'call', name: text, arguments: text },
          { id: `${text}3`, digest: text, kind: 'plan', plan: text },
          { id: `${text}4`, digest: text, kind: 'call', name: text, agent: text, code: text }
        ]
      },
      notes: [{ text }, { text, is_warning: true }]
    }
  };
}

/** A request with a text in every field. */
export function previewFullOf(text: string): PreviewRecord {
  return {
    kind: 'act',
    step_number: 2,
    is_past: true,
    is_exact: false,
    is_other_view: false,
    is_new_run: true,
    summary_mode: false,
    model: text,
    messages: [
      {
        number: 1,
        role: text,
        parts: [{ text }, { text, is_image: true }],
        calls: [{ id: text, name: text, arguments: text }],
        call_id: text,
        tokens: 12,
        is_estimate: true,
        is_new: true,
        is_redacted: true
      }
    ],
    messages_left_out: 0,
    tools: [{ name: text, description: text, parameters: text, is_redacted: true }],
    tools_left_out: 1,
    tools_tokens: 40,
    is_tools_estimate: false,
    tokens: 377,
    is_estimate: true,
    window: 8_000,
    n_messages: 1,
    n_kept: 0,
    n_before: 2,
    options: { [text]: text }
  };
}
