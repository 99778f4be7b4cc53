/**
 * A reader for each type of the wire.
 *
 * The compiler holds them to `protocol.ts`: a field that is missing here does not compile. It must not
 * hold anything but shapes.
 */
import type {
  AnswerRecord,
  AnyStepRecord,
  AskedItemRecord,
  AskedRecord,
  CallRecord,
  CheckRecord,
  ErrorRecord,
  LaidOnRecord,
  LaneRecord,
  NoteRecord,
  NowRecord,
  PlanDiffRecord,
  PlanRecord,
  RunHead,
  SettingsRecord,
  SoundRecord,
  StepRecord,
  UsageRecord,
  ValueRecord,
  VariableRecord,
  WaitRecord,
  WritingRecord
} from '../protocol';
import {
  count,
  either,
  flag,
  isObject,
  json,
  lazily,
  list,
  mapping,
  number,
  object,
  oneOf,
  orNull,
  required,
  text
} from './reading';
import type { Reader } from './reading';

const none = (): null => null;
const empty = (): string => '';
const zero = (): number => 0;
const words = required(text, empty);
const texts = list(text);
const figure = required(orNull(number), none);
const whole = required(count, zero);
const seconds = required(number, zero);

const usage = object<UsageRecord>({
  input_tokens: figure,
  output_tokens: figure,
  cached_tokens: figure,
  reasoning_tokens: figure,
  cost_usd: figure
});
export const readUsage = (value: unknown): UsageRecord => usage(value) ?? (usage({}) as UsageRecord);
const someUsage: { read: Reader<UsageRecord>; orElse: () => UsageRecord } = required(usage, () =>
  readUsage({})
);

const error = object<ErrorRecord>({ kind: required(text, () => 'Error'), message: words });
const laidOn = object<LaidOnRecord>({
  form: oneOf('whole', 'no_images', 'short_observations', 'line', 'left_out'),
  view: oneOf('full', 'summary', 'hidden'),
  is_pinned: flag,
  edited_by: text,
  edited_at: text
});
const notes = list(object<NoteRecord>({ text: words, is_warning: flag }));
const callArguments = required(either(mapping(json), text), () => ({}));

/** Of runs inside runs: a record that has more is not followed into its depth. */
const MOST_DEPTH = 6;
const callShape = {
  id: words,
  name: words,
  arguments: callArguments,
  observation: text,
  error,
  notes: texts,
  printed: text,
  bound_to: text,
  is_edited: flag,
  duration_s: number,
  output: object<ValueRecord>({ type: words, shape: text, preview: text }),
  images: texts,
  sounds: list(object<SoundRecord>({ words, url: text })),
  code: text,
  calls_left_out: count,
  run: lazily(() => lane, MOST_DEPTH)
};
// A call that code made holds no further ones: a record that says so is not followed into its depth.
const innerCall = object<CallRecord>({ ...callShape, calls: () => undefined });
const call = object<CallRecord>({ ...callShape, calls: list(innerCall) });

const action = object<StepRecord>({
  step_number: whole,
  duration_s: seconds,
  thought: text,
  reasoning: text,
  calls: list(call),
  calls_left_out: count,
  changes: texts,
  changes_left_out: count,
  error,
  usage,
  is_final_answer: flag,
  notes,
  laid_on: laidOn
});

const lines = required(texts, (): string[] => []);
const plan = object<PlanRecord>({
  kind: required(oneOf('plan'), (): 'plan' => 'plan'),
  step_number: whole,
  duration_s: seconds,
  plan: words,
  original: text,
  reasoning: text,
  n_items: count,
  diff: object<PlanDiffRecord>({
    n_added: whole,
    n_dropped: whole,
    n_kept: whole,
    added: lines,
    dropped: lines,
    kept: lines
  }),
  error,
  usage,
  notes,
  laid_on: laidOn
});

/** A step or a plan; undefined if it is not even an object. */
export const readStep: Reader<AnyStepRecord> = value =>
  isObject(value) && ('plan' in value || value.kind === 'plan') ? plan(value) : action(value);

export const readLaidOn: Reader<LaidOnRecord> = laidOn;

const answer = object<AnswerRecord>({ type: words, shape: text, text: words });
const status = oneOf('running', 'answered', 'max_steps', 'interrupted', 'failed', 'budget');
const verified = oneOf('yes', 'no', 'unchecked');

const asked = object<AskedRecord>({
  id: words,
  items: required(
    list(
      object<AskedItemRecord>({
        id: words,
        digest: words,
        kind: required(oneOf('call', 'plan'), (): 'call' => 'call'),
        agent: text,
        name: text,
        arguments: either(mapping(json), text),
        code: text,
        plan: text,
        is_partial: flag,
        verdict: oneOf('approved', 'edited', 'rejected')
      })
    ),
    (): AskedItemRecord[] => []
  )
});

export const readNow: Reader<NowRecord> = object<NowRecord>({
  step_number: whole,
  doing: required(
    oneOf('thinking', 'planning', 'calling', 'waiting', 'paused', 'asking'),
    (): 'thinking' => 'thinking'
  ),
  thought: text,
  code: text,
  plan: text,
  reasoning: text,
  writing: list(object<WritingRecord>({ name: words, arguments: words })),
  calls: list(call),
  running: texts,
  waiting: object<WaitRecord>({
    reason: words,
    delay_s: required(orNull(number), none),
    attempt: whole
  }),
  asked,
  notes
});

const lane: Reader<LaneRecord> = object<LaneRecord>({
  run_id: words,
  agent: required(text, () => 'agent'),
  model: words,
  mode: words,
  status: required(status, (): 'interrupted' => 'interrupted'),
  max_steps: whole,
  n_steps: whole,
  duration_s: seconds,
  usage: someUsage,
  steps: required(list(readStep), (): AnyStepRecord[] => []),
  steps_left_out: whole,
  answer: required(orNull(answer), none),
  verified,
  error: required(orNull(error), none),
  now: readNow
});

export const readHead: Reader<RunHead> = object<RunHead>({
  version: whole,
  agent_magic: words,
  run_id: words,
  agent: required(text, () => 'agent'),
  model: words,
  why: required(orNull(text), none),
  mode: words,
  status: required(status, (): 'interrupted' => 'interrupted'),
  max_steps: whole,
  n_steps: whole,
  started: words,
  duration_s: seconds,
  usage: someUsage,
  task: words,
  images: lines,
  variables: required(
    list(object<VariableRecord>({ name: words, description: words })),
    (): VariableRecord[] => []
  ),
  warnings: lines,
  task_laid_on: laidOn,
  resumed_from: text,
  steps_left_out: whole,
  is_quiet: flag,
  answer: required(orNull(answer), none),
  verified,
  checks: list(object<CheckRecord>({ name: words, passed: required(flag, () => false), reason: text })),
  error: required(orNull(error), none)
});

export const readSettings: Reader<SettingsRecord> = object<SettingsRecord>({
  summary_mode: required(oneOf('plan', 'all', 'off'), (): 'plan' => 'plan'),
  planning_interval: required(orNull(count), none),
  is_paused: required(flag, () => false),
  max_steps: whole,
  approve: required(oneOf('never', 'code', 'tools', 'all'), (): 'never' => 'never'),
  pending: required(mapping(text), () => ({}))
});
