/**
 * The reader of what a model is sent: both views of a request. The compiler holds it to `protocol.ts`.
 *
 * It must not hold anything but shapes.
 */
import type { MessageRecord, PartRecord, PreviewRecord, SentCallRecord, SentToolRecord } from '../protocol';
import { count, flag, isObject, json, list, mapping, object, oneOf, orNull, required, text } from './reading';
import type { Reader } from './reading';

const words = required(text, () => '');
const whole = required(count, () => 0);
const maybe = required(flag, () => false);
const figure = required(orNull(count), () => null);

const message = object<MessageRecord>({
  number: whole,
  role: words,
  parts: required(list(object<PartRecord>({ text: words, is_image: flag })), (): PartRecord[] => []),
  calls: list(object<SentCallRecord>({ id: words, name: words, arguments: words })),
  call_id: text,
  tokens: count,
  is_estimate: flag,
  is_new: flag,
  is_redacted: flag
});

export const readPreview: Reader<PreviewRecord> = object<PreviewRecord>({
  kind: required(oneOf('act', 'plan', 'final'), (): 'act' => 'act'),
  step_number: whole,
  is_past: maybe,
  is_exact: required(orNull(flag), () => null),
  is_other_view: maybe,
  is_new_run: maybe,
  summary_mode: maybe,
  model: words,
  messages: required(list(message), (): MessageRecord[] => []),
  messages_left_out: whole,
  tools: required(
    list(object<SentToolRecord>({ name: words, description: words, parameters: words, is_redacted: flag })),
    (): SentToolRecord[] => []
  ),
  tools_left_out: whole,
  tools_tokens: figure,
  is_tools_estimate: maybe,
  tokens: figure,
  is_estimate: maybe,
  window: figure,
  n_messages: whole,
  n_kept: whole,
  n_before: figure,
  options: required(mapping(json), () => ({}))
});

/** The normal and the summary view of one call; null if the answer holds none. */
export function readViews(data: unknown): [PreviewRecord, PreviewRecord] | null {
  if (!isObject(data)) {
    return null;
  }
  const normal = readPreview(data.normal);
  const summary = readPreview(data.summary);
  return normal && summary ? [normal, summary] : null;
}
