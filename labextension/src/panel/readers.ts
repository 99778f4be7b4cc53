/**
 * Reads an agent as it came over the wire. It must not trust it, nor make elements.
 */
import { PROTOCOL_VERSION } from '../protocol';
import type {
  AgentRecord,
  AgentSnapshot,
  ExampleRecord,
  NameRecord,
  PanelRunRecord,
  PanelStepRecord,
  ParameterRecord,
  SettingsRecord,
  Status,
  ToolLineRecord,
  ToolRecord
} from '../protocol';
import { readLaidOn, readSettings } from '../steps/readers';
import { count, flag, isObject, json, list, mapping, object, oneOf, orNull, required, text } from '../steps/reading';
import type { Reader } from '../steps/reading';

const words = required(text, () => '');
const whole = required(count, () => 0);
const lines = required(list(text), (): string[] => []);
const status = required(
  orNull(oneOf<Status>('running', 'answered', 'max_steps', 'interrupted', 'failed', 'budget')),
  () => null
);

const step = object<PanelStepRecord>({
  place: whole,
  kind: required(oneOf('task', 'plan', 'action', 'answer'), (): 'action' => 'action'),
  step_number: count,
  title: words,
  is_error: flag,
  laid_on: readLaidOn
});
const run = object<PanelRunRecord>({
  task: words,
  status,
  steps: required(list(step), (): PanelStepRecord[] => [])
});
const agent = object<AgentRecord>({
  name: required(text, () => 'agent'),
  model: words,
  why: required(orNull(text), () => null),
  tools: required(
    list(object<ToolLineRecord>({ name: words, description: words })),
    (): ToolLineRecord[] => []
  ),
  settings: required(mapping(json), () => ({})),
  n_runs: whole,
  n_steps: whole,
  last_status: status
});
const parameter = object<ParameterRecord>({
  name: words,
  type: words,
  description: words,
  is_required: required(flag, () => false),
  default: text
});
const tool = object<ToolRecord>({
  name: words,
  description: words,
  parameters: required(list(parameter), (): ParameterRecord[] => []),
  examples: required(
    list(object<ExampleRecord>({ task: words, arguments: required(mapping(json), () => ({})) })),
    (): ExampleRecord[] => []
  ),
  weaknesses: lines
});
const name = object<NameRecord>({ name: words, type: words, shape: text, preview: text });

const snapshot = object<AgentSnapshot>({
  v: whole,
  id: words,
  agent: required(agent, () => agent({}) as AgentRecord),
  settings: required(readSettings, () => readSettings({}) as SettingsRecord),
  is_running: required(flag, () => false),
  runs: required(list(run), (): PanelRunRecord[] => []),
  steps_left_out: whole,
  scope: required(oneOf('named', 'all'), (): 'named' => 'named'),
  names: required(list(name), (): NameRecord[] => []),
  names_left_out: whole,
  tools: required(list(tool), (): ToolRecord[] => []),
  tools_left_out: whole,
  tools_missing: lines,
  tools_error: text
});

/** An agent; undefined if it is of a newer version, or none that can be read. */
export const readAgent: Reader<AgentSnapshot> = value =>
  isObject(value) && typeof value.v === 'number' && value.v >= 1 && value.v <= PROTOCOL_VERSION
    ? snapshot(value)
    : undefined;
