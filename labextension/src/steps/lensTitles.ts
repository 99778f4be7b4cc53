/**
 * The words and figures of a request to a model. Twin of `agent_magic/view/preview_words.py`.
 *
 * It must not make elements.
 */
import type { MessageRecord, PreviewRecord, SentToolRecord } from '../protocol';
import { counted, grouped } from './figures';
import { bareText } from './jsonText';
import { firstLine, oneLine } from './text';
import { LENS_TASK, PURPOSES, WORDS } from './words';

const FIRST_CHARS = 110;

/** `Sent for an action, step 4`, `To be sent …`, `Not sent …`. */
export function lensTitle(preview: PreviewRecord): string {
  const call = `${PURPOSES[preview.kind]}, step ${preview.step_number}`;
  if (preview.is_other_view) {
    return `Not ${preview.is_past ? 'sent' : 'to be sent'} ${call}: the same moment in the other view`;
  }
  return `${preview.is_past ? 'Sent' : 'To be sent'} ${call}`;
}

/** Messages, tokens, and their part of the window. */
export function lensFigures(preview: PreviewRecord): string {
  const { tokens, window } = preview;
  const parts = [
    counted(preview.n_messages, 'message'),
    tokens === null ? 'tokens unknown' : tokenWords(tokens, preview.is_estimate)
  ];
  if (window !== null) {
    const part = tokens === null || window <= 0 ? '' : `${((100 * tokens) / window).toFixed(0)}% of `;
    parts.push(`${part}a window of ${grouped(window)}`);
  }
  return parts.join(' · ');
}

/** What is new since the call before of this kind. */
export function lensDifference(preview: PreviewRecord): string {
  const { n_before, n_kept, n_messages } = preview;
  if (n_before === null) {
    return WORDS.firstCall;
  }
  const gone = n_before > n_kept ? [`${grouped(n_before - n_kept)} of that call changed or gone`] : [];
  return [`${grouped(n_kept)} as in the call before`, `${grouped(n_messages - n_kept)} new`, ...gone].join(', ');
}

/** What must be known before it is taken for what is sent. */
export function lensWarnings(preview: PreviewRecord): string[] {
  const hasRedacted = [...preview.messages, ...preview.tools].some(record => record.is_redacted);
  return [
    ...(preview.is_exact === false ? [WORDS.notExact] : []),
    ...(hasRedacted ? [WORDS.hasRedacted] : [])
  ];
}

/** What run it is of, how sure it is, and what else goes to the provider. */
export function lensRemarks(preview: PreviewRecord): string[] {
  const options = Object.entries(preview.options).map(
    ([name, value]) => `${oneLine(name, 80)} ${oneLine(bareText(value, 200))}`
  );
  return [
    ...(preview.is_new_run ? [LENS_TASK[preview.kind]] : []),
    ...(preview.is_exact ? [WORDS.isExact] : []),
    ...(options.length ? [`options: ${options.join(' · ')}`] : [])
  ];
}

/** Tokens of a message; empty if unknown. */
export function messageTokens(message: MessageRecord): string {
  if (message.tokens === undefined) {
    return '';
  }
  return `${message.is_estimate ? '≈ ' : ''}${grouped(message.tokens)}`;
}

/** What is special about a message. */
export function messageLabels(message: MessageRecord, isOnlyHere: boolean): string[] {
  return [
    ...(message.is_new ? ['new'] : []),
    ...(isOnlyHere ? ['in this view only'] : []),
    ...(message.is_redacted ? ['redacted'] : [])
  ];
}

/** A message on one line: how its text begins, else what it calls. */
export function firstWords(message: MessageRecord): string {
  const said = message.parts.find(part => part.text.trim());
  const names = new Set((message.calls ?? []).map(call => oneLine(call.name, 60)));
  const parts = [
    ...(said ? [firstLine(said.text, FIRST_CHARS)] : []),
    ...(names.size ? [`calls ${[...names].join(', ')}`] : [])
  ];
  return oneLine(parts.join(' · ') || WORDS.empty, FIRST_CHARS);
}

/** How many tools, and their tokens. */
export function toolsTitle(preview: PreviewRecord): string {
  const n = counted(preview.tools.length + preview.tools_left_out, 'tool');
  return preview.tools_tokens === null
    ? n
    : `${n} · ${tokenWords(preview.tools_tokens, preview.is_tools_estimate)}`;
}

export function toolLine(tool: SentToolRecord): string {
  return firstLine(tool.description, FIRST_CHARS);
}

/** The numbers of the messages that another view has not, or has in another form. */
export function onlyHere(preview: PreviewRecord, other: PreviewRecord): Set<number> {
  const theirs = new Set(other.messages.map(identity));
  return new Set(
    preview.messages.filter(message => !theirs.has(identity(message))).map(message => message.number)
  );
}

function tokenWords(number: number, isEstimate: boolean): string {
  return `${isEstimate ? '≈ ' : ''}${counted(number, 'token')}`;
}

function identity(message: MessageRecord): string {
  return JSON.stringify([
    message.role,
    message.parts.map(part => part.text),
    (message.calls ?? []).map(call => [call.id, call.arguments]),
    message.call_id ?? null
  ]);
}
