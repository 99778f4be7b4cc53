/**
 * What goes over the wire between a run in the kernel and its view, and what stands in a saved run.
 *
 * Twin of `agent_magic/view/protocol.py`, `agent_magic/record/schema.py` and `preview_schema.py`.
 * It must not hold code that runs beyond its constants. Names are those of the wire: snake_case.
 */

/** Of the messages and requests. */
export const PROTOCOL_VERSION = 1;
/** Of the record of a run. */
export const RECORD_VERSION = 1;
/** Of a run in a notebook's output. */
export const RUN_MIME = 'application/vnd.agent-magic.run.v1+json';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type StepView = 'full' | 'summary' | 'hidden';
export type Form = 'whole' | 'no_images' | 'short_observations' | 'line' | 'left_out';
export type Status = 'running' | 'answered' | 'max_steps' | 'interrupted' | 'failed' | 'budget';
export type Verified = 'yes' | 'no' | 'unchecked';

/** Tokens and money; null is unknown. */
export interface UsageRecord {
  input_tokens: number | null;
  output_tokens: number | null;
  cached_tokens: number | null;
  reasoning_tokens: number | null;
  cost_usd: number | null;
}

export interface ErrorRecord {
  kind: string;
  message: string;
}

export interface ValueRecord {
  type: string;
  shape?: string;
  preview?: string;
}

export interface SoundRecord {
  /** Such as `sound of 2.5 s, 44,100 Hz, 1 channel (wav)`. */
  words: string;
  /** A `data:` URL, if it is small enough to be played from here. */
  url?: string;
}

export interface CallRecord {
  id: string;
  name: string;
  /** As the model wrote them; the raw text if it could not be read. */
  arguments: { [name: string]: Json } | string;
  /** It is a block of code, and has no arguments. */
  code?: string;
  /** The calls of tools that the code made, in the order of their starts; these make none of their own. */
  calls?: CallRecord[];
  /** How many more it made: they belong after the first third of `calls`. */
  calls_left_out?: number;
  /** What the model was told; of code that failed too: what had come of it before. */
  observation?: string;
  error?: ErrorRecord;
  /** It was made with arguments, or code, of the person's, which stand in its notes. */
  is_edited?: boolean;
  notes?: string[];
  printed?: string;
  bound_to?: string;
  duration_s?: number;
  output?: ValueRecord;
  /** Each a `data:` URL of PNG, JPEG, GIF or WebP in base64, or words such as `image 1200 × 800`. */
  images?: string[];
  sounds?: SoundRecord[];
  /** Of a call of a managed agent: the run that it made. */
  run?: LaneRecord;
}

export interface NoteRecord {
  text: string;
  is_warning?: boolean;
}

/** What a person or the window laid upon a step. */
export interface LaidOnRecord {
  form?: Form;
  view?: StepView;
  is_pinned?: boolean;
  edited_by?: string;
  /** ISO 8601, UTC. */
  edited_at?: string;
}

/** One action step. */
export interface StepRecord {
  step_number: number;
  duration_s: number;
  thought?: string;
  reasoning?: string;
  calls?: CallRecord[];
  calls_left_out?: number;
  changes?: string[];
  changes_left_out?: number;
  error?: ErrorRecord;
  usage?: UsageRecord;
  is_final_answer?: boolean;
  notes?: NoteRecord[];
  laid_on?: LaidOnRecord;
}

/** How a plan differs from the one before it; the lists may be cut, the counts are not. */
export interface PlanDiffRecord {
  n_added: number;
  n_dropped: number;
  n_kept: number;
  added: string[];
  dropped: string[];
  kept: string[];
}

/** One plan, or the failure to make one. */
export interface PlanRecord {
  kind: 'plan';
  /** Of the action step before which it was made. */
  step_number: number;
  duration_s: number;
  plan: string;
  /** As the model wrote it, if that is not `plan`. */
  original?: string;
  reasoning?: string;
  n_items?: number;
  diff?: PlanDiffRecord;
  error?: ErrorRecord;
  usage?: UsageRecord;
  notes?: NoteRecord[];
  laid_on?: LaidOnRecord;
}

/** Told apart by `'plan' in record`. */
export type AnyStepRecord = StepRecord | PlanRecord;

/** The run of a managed agent, under the call that it was made for; its task stands in the call. */
export interface LaneRecord {
  run_id: string;
  agent: string;
  model: string;
  mode: string;
  status: Status;
  max_steps: number;
  n_steps: number;
  duration_s: number;
  usage: UsageRecord;
  /** Of a long run the first and the last ones. */
  steps: AnyStepRecord[];
  steps_left_out: number;
  answer: AnswerRecord | null;
  verified?: Verified;
  error: ErrorRecord | null;
  /** While it goes on only. */
  now?: NowRecord;
}

export interface VariableRecord {
  name: string;
  description: string;
}

export interface AnswerRecord {
  type: string;
  shape?: string;
  text: string;
}

export interface CheckRecord {
  name: string;
  passed: boolean;
  reason?: string;
}

/** A pause before the model is asked again. */
export interface WaitRecord {
  reason: string;
  /** null: until the person lets the run go on. */
  delay_s: number | null;
  attempt: number;
}

export type Verdict = 'approved' | 'edited' | 'rejected';

/** One thing that a person is asked to approve. */
export interface AskedItemRecord {
  id: string;
  /** Of what is shown; an answer carries it back. */
  digest: string;
  kind: 'call' | 'plan';
  /** The managed agent that asks; left out if it is the agent of the run itself. */
  agent?: string;
  name?: string;
  arguments?: { [name: string]: Json } | string;
  /** Of a block of code, in place of arguments. */
  code?: string;
  plan?: string;
  /** It is cut, or has secrets taken out, so an edit of it would not be the whole. */
  is_partial?: boolean;
  verdict?: Verdict;
}

export interface AskedRecord {
  id: string;
  items: AskedItemRecord[];
}

/** A call whose arguments the model is writing. */
export interface WritingRecord {
  name: string;
  arguments: string;
}

export type Doing = 'thinking' | 'planning' | 'calling' | 'waiting' | 'paused' | 'asking';

/** What happens at the moment. */
export interface NowRecord {
  step_number: number;
  doing: Doing;
  thought?: string;
  /** The code that the model writes, from its opening tag on, until the reply is whole. */
  code?: string;
  plan?: string;
  reasoning?: string;
  writing?: WritingRecord[];
  calls?: CallRecord[];
  /** Ids of the calls that are running, those too that code made. */
  running?: string[];
  waiting?: WaitRecord;
  asked?: AskedRecord;
  notes?: NoteRecord[];
}

/** A run without its steps. */
export interface RunHead {
  version: number;
  agent_magic: string;
  run_id: string;
  agent: string;
  model: string;
  why: string | null;
  /** `tools` or `code`: what its steps are written as. */
  mode: string;
  status: Status;
  max_steps: number;
  /** Action steps made, also those that are left out; plans are not counted. */
  n_steps: number;
  /** ISO 8601, UTC. */
  started: string;
  duration_s: number;
  usage: UsageRecord;
  task: string;
  images: string[];
  variables: VariableRecord[];
  warnings: string[];
  task_laid_on?: LaidOnRecord;
  resumed_from?: string;
  steps_left_out: number;
  /** Header and answer only, until a person asks for the steps. */
  is_quiet?: boolean;
  answer: AnswerRecord | null;
  verified?: Verified;
  checks?: CheckRecord[];
  error: ErrorRecord | null;
}

export interface RunRecord extends RunHead {
  /** Plans and actions in order; of a very long run the first and the last ones. */
  steps: AnyStepRecord[];
  /** While it runs only. */
  now?: NowRecord;
  /** What it added to the agent's memory; a view does not read it. */
  memory?: string;
  /** The name of the journal that has it, where it is too large to stand here. */
  journal?: string;
}

export type SummaryMode = 'plan' | 'all' | 'off';
export type Approve = 'never' | 'code' | 'tools' | 'all';

export interface SettingsRecord {
  summary_mode: SummaryMode;
  planning_interval: number | null;
  is_paused: boolean;
  max_steps: number;
  approve: Approve;
  /** Settings that are not in effect yet, with words such as `from step 4`. */
  pending: { [name: string]: string };
}

/** A run as it stood at message `n`. */
export interface Snapshot {
  v: number;
  n: number;
  run: RunRecord;
  settings: SettingsRecord | null;
  /** The number of the only step to show. */
  step: number | null;
}

interface INumbered {
  v: number;
  /** Rises by 1. */
  n: number;
}

export interface HeadMessage extends INumbered {
  kind: 'head';
  head: RunHead;
}

export interface StepMessage extends INumbered {
  kind: 'step';
  /** Among plans and actions, from 0; a place that is sent again replaces the step. */
  place: number;
  step: AnyStepRecord;
}

export interface NowMessage extends INumbered {
  kind: 'now';
  /** Without the texts that grow. */
  now: NowRecord | null;
}

export type TextField = 'thought' | 'code' | 'plan' | 'reasoning' | 'arguments';

/** A text grows: its first `at` characters stay, `add` follows. */
export interface TextMessage extends INumbered {
  kind: 'text';
  field: TextField;
  at: number;
  add: string;
  /** Of `arguments`: the place of the call in its turn. */
  call?: number;
  name?: string;
}

export interface TotalsMessage extends INumbered {
  kind: 'totals';
  n_steps: number;
  duration_s: number;
  usage: UsageRecord;
}

export interface SettingsMessage extends INumbered {
  kind: 'settings';
  settings: SettingsRecord;
}

/** News of the run that a managed agent makes for a call of this step; `now` does not tell of it. */
export interface LaneMessage extends INumbered {
  kind: 'lane';
  /** The id of the call, which may be one that code made. */
  call: string;
  /** Its `n` says nothing. The first of all is a head. */
  message: Message;
}

export interface EndMessage extends INumbered {
  kind: 'end';
  head: RunHead;
}

export type Message =
  | HeadMessage
  | StepMessage
  | NowMessage
  | TextMessage
  | TotalsMessage
  | SettingsMessage
  | LaneMessage
  | EndMessage;

/** Messages that go together. */
export interface Batch {
  v: number;
  kind: 'batch';
  messages: Message[];
}

export type RequestKind = 'act' | 'plan' | 'final';

/** What is edited of a step. */
export interface StepChanges {
  model_output?: string;
  plan?: string;
  /** By the id of the call. */
  observations?: { [id: string]: string };
  arguments?: { [id: string]: { [name: string]: Json } };
}

/** What a view asks for; whoever sends it adds `v`, `id`, `nonce` and `run_id`. */
export type RequestBody =
  | { verb: 'hello'; snapshot?: boolean; bundle?: boolean }
  | { verb: 'stop' | 'pause' | 'go_on' | 'replan_now' | 'undo' }
  | { verb: 'set'; name: 'summary_mode'; value: SummaryMode }
  | { verb: 'set'; name: 'planning_interval'; value: number | null }
  | { verb: 'set'; name: 'max_steps'; value: number }
  | { verb: 'set'; name: 'approve'; value: Approve }
  | { verb: 'set_view'; place: number; view: StepView | null }
  | { verb: 'set_pinned'; place: number; value: boolean }
  | { verb: 'approve'; item: string; digest: string }
  | { verb: 'edit'; item: string; digest: string; arguments?: { [name: string]: Json }; plan?: string }
  | { verb: 'reject'; item: string; digest: string; reason?: string }
  | { verb: 'edit_step'; place: number; changes: StepChanges }
  | { verb: 'lens'; place: number | null; kind?: RequestKind };

export type Request = RequestBody & { v: number; id: string; nonce: string; run_id: string };

export interface AcceptedReply {
  v: number;
  ok: true;
  /** From when on it holds: `now`, `from step 4`, `from the next call`. */
  effective?: string;
  data?: unknown;
}

export interface RefusedReply {
  v: number;
  ok: false;
  /** Why, and what to do. */
  error: string;
}

export type Reply = AcceptedReply | RefusedReply;

export interface ReplyMessage {
  v: number;
  kind: 'reply';
  id: string;
  reply: Reply;
}

export interface HelloData {
  nonce: string;
  is_running: boolean;
  settings: SettingsRecord | null;
  /** By the place of the step. */
  steps: (LaidOnRecord | null)[];
  /** The run as it stands, if it goes on and the view asked for it by `snapshot: true`. */
  snapshot?: Snapshot;
  /** The forms of the run by MIME type, if it has ended and the view asked for them by `bundle: true`. */
  bundle?: { [mime: string]: unknown };
}

export interface PartRecord {
  text: string;
  is_image?: boolean;
}

export interface SentCallRecord {
  id: string;
  name: string;
  /** JSON, as it is sent. */
  arguments: string;
}

/** One message of a request to a model, in its provider's form. */
export interface MessageRecord {
  /** From 1. */
  number: number;
  role: string;
  parts: PartRecord[];
  calls?: SentCallRecord[];
  call_id?: string;
  tokens?: number;
  is_estimate?: boolean;
  /** The call before of this kind had another message here, or none. */
  is_new?: boolean;
  is_redacted?: boolean;
}

export interface SentToolRecord {
  name: string;
  description: string;
  /** JSON Schema. */
  parameters: string;
  is_redacted?: boolean;
}

/** What a model was sent, or would be sent next. */
export interface PreviewRecord {
  kind: RequestKind;
  step_number: number;
  is_past: boolean;
  /** Whether what was rebuilt is what was sent; null if nothing was. */
  is_exact: boolean | null;
  is_other_view: boolean;
  is_new_run: boolean;
  summary_mode: boolean;
  model: string;
  messages: MessageRecord[];
  messages_left_out: number;
  tools: SentToolRecord[];
  tools_left_out: number;
  tools_tokens: number | null;
  is_tools_estimate: boolean;
  tokens: number | null;
  is_estimate: boolean;
  window: number | null;
  n_messages: number;
  n_kept: number;
  n_before: number | null;
  options: { [name: string]: Json };
}

/* The panel of an agent. */

/** A step in the memory of an agent, on one line. */
export interface PanelStepRecord {
  /** What requests name it by; it stays the same as long as the agent lives. */
  place: number;
  kind: 'task' | 'plan' | 'action' | 'answer';
  step_number?: number;
  title: string;
  is_error?: boolean;
  laid_on?: LaidOnRecord;
}

/** A run in the memory of an agent. */
export interface PanelRunRecord {
  /** On one line. */
  task: string;
  /** null: not known, as in a memory that was loaded. */
  status: Status | null;
  /** The task, plans, actions, the answer; those that were dropped are left out. */
  steps: PanelStepRecord[];
}

/** A name that the agent may refer to. */
export interface NameRecord {
  name: string;
  type: string;
  shape?: string;
  preview?: string;
}

export interface ToolLineRecord {
  name: string;
  description: string;
}

/** An agent, as its card shows it. */
export interface AgentRecord {
  name: string;
  model: string;
  why: string | null;
  tools: ToolLineRecord[];
  settings: { [name: string]: Json };
  n_runs: number;
  n_steps: number;
  last_status: Status | null;
}

export interface ParameterRecord {
  name: string;
  type: string;
  description: string;
  is_required: boolean;
  default?: string;
}

export interface ExampleRecord {
  task: string;
  arguments: { [name: string]: Json };
}

/** A tool: what the model is told of it, and what is weak about that. */
export interface ToolRecord {
  name: string;
  description: string;
  parameters: ParameterRecord[];
  examples: ExampleRecord[];
  weaknesses: string[];
}

/** An agent as it stands. */
export interface AgentSnapshot {
  v: number;
  /** Stands as `run_id` in what a panel asks for. */
  id: string;
  agent: AgentRecord;
  settings: SettingsRecord;
  is_running: boolean;
  runs: PanelRunRecord[];
  /** The oldest, beside those in `runs`. */
  steps_left_out: number;
  scope: 'named' | 'all';
  names: NameRecord[];
  names_left_out: number;
  tools: ToolRecord[];
  tools_left_out: number;
  /** Names that were given as tools and are gone. */
  tools_missing: string[];
  /** Why there are no tools. */
  tools_error?: string;
}
