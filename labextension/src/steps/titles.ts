/**
 * The one-line titles of steps, plans and calls, and their labels. Twin of `agent_magic/view/titles.py`.
 *
 * It must not make elements: what it gives is plain text.
 */
import type {
  AnyStepRecord,
  CallRecord,
  ErrorRecord,
  Json,
  LaidOnRecord,
  PlanDiffRecord,
  PlanRecord,
  StepRecord,
  ValueRecord
} from '../protocol';
import { counted, grouped } from './figures';
import { isReference, jsonLine } from './jsonText';
import { cutBefore, firstLine, oneLine } from './text';
import { FORMS, VIEWS, WORDS } from './words';

/** A call, or a step without calls, on one line. */
export interface Title {
  /** What was called: `mean_price(city="Oslo")`; empty if nothing was. */
  code: string;
  /** What came of it, or what the model said. */
  outcome: string;
  isError: boolean;
  /**
   * Of a block of code, of which `code` is a line: how long it is, and how many calls it made. Of a call of a
   * managed agent: how many steps it made.
   */
  about?: string;
}

const ARGUMENT_CHARS = 32;
const ARGUMENTS_CHARS = 90;
const OUTCOME_CHARS = 80;
const ERROR_CHARS = 160;
const TITLED_CALLS = 3;
const ACCEPTED = 'accepted';
const UNTELLING = /^(?:#|import |from |@|"""|'''|try:)/;
/** Such as `prices = {}`. */
const BEGINNING = /^[\p{L}\p{N}_, ]+ = (?:\{\}|\[\]|\(\)|set\(\)|None|True|False|-?[\d._]+)$/u;
const EDITED_CODE = 'the person changed the arguments to this code:\n';
const NOTHING_TOLD = 'The code ran. It printed nothing, and its last line has no value.';
const ANSWER_GIVEN = 'The answer was given: ';
/** How a record tells of an object that code handed to a tool: `<DataFrame, 3 rows × 2 columns>`. */
const OBJECT = /^<[\p{L}\p{N}_]+, [^<>"]+>$/u;
const CUT = /^… [\d,]+ characters cut …$/m;

export function titlesOf(step: AnyStepRecord): Title[] {
  return 'plan' in step ? [planTitle(step)] : stepTitles(step);
}

/** `Plan: 3 steps · 1 added, 1 dropped`, or why there is none. */
export function planTitle(plan: PlanRecord): Title {
  if (plan.error) {
    return { code: '', outcome: `${WORDS.plan}: ${errorLine(plan.error)}`, isError: true };
  }
  const what = plan.n_items
    ? counted(plan.n_items, 'step')
    : firstLine(plan.plan, OUTCOME_CHARS) || WORDS.nothingSaid;
  const differs = plan.diff ? [diffWords(plan.diff)] : [];
  return { code: '', outcome: `${WORDS.plan}: ${[what, ...differs].join(' · ')}`, isError: false };
}

function stepTitles(step: StepRecord): Title[] {
  const calls = step.calls ?? [];
  // Beside others an error is said by its kind, so that there is room for all.
  const titles = calls.slice(0, TITLED_CALLS).map(call => callTitle(call, { isBrief: calls.length > 1 }));
  const nMore = calls.length - titles.length + (step.calls_left_out ?? 0);
  if (nMore) {
    const nFailed = calls.slice(TITLED_CALLS).filter(call => call.error).length;
    const failed = nFailed ? `, ${grouped(nFailed)} failed` : '';
    titles.push(said(`${grouped(nMore)} more${failed}`));
  }
  // An interrupt that hit a call is said there, once.
  if (step.error && !calls.some(call => call.error?.kind === 'Interrupted')) {
    titles.push({ code: '', outcome: errorLine(step.error), isError: true });
  }
  return titles.length ? titles : [said(firstLine(step.thought ?? '', OUTCOME_CHARS) || WORDS.nothingSaid)];
}

export function callTitle(call: CallRecord, { isRunning = false, isBrief = false } = {}): Title {
  if (call.code !== undefined) {
    return codeTitle(call, call.code, isRunning, isBrief);
  }
  const code = callLine(call.name, call.arguments) + (call.is_edited ? ' as edited' : '');
  if (isRunning && !call.error) {
    return { code, outcome: '…', isError: false };
  }
  const about = call.run ? { about: counted(call.run.n_steps, 'step') } : {};
  if (call.error) {
    return { code, outcome: errorOutcome(call.error, isBrief), isError: true, ...about };
  }
  return { code, outcome: outcomeOf(call), isError: false, ...about };
}

function outcomeOf(call: CallRecord): string {
  if (call.bound_to) {
    return `${oneLine(call.bound_to, 60)}: ${valueWords(call.output)}`;
  }
  // What a managed agent reports begins with how it went.
  const answer = call.run?.status === 'answered' ? call.run.answer?.text : undefined;
  return firstLine(answer ?? told(call), OUTCOME_CHARS);
}

/** `mean_price(city="Oslo")`, long arguments cut. */
export function callLine(name: string, given: CallRecord['arguments']): string {
  return `${oneLine(name, 60)}(${argumentsLine(given)})`;
}

/** Type and shape: `DataFrame, 3 rows × 2 columns`. */
export function valueWords(value: ValueRecord | undefined): string {
  return value ? oneLine(value.shape ? `${value.type}, ${value.shape}` : value.type, 100) : '';
}

/** What the model was told of a call; nothing for an answer that was just accepted. */
export function told(call: CallRecord): string {
  return call.observation === ACCEPTED ? '' : (call.observation ?? '');
}

/** Kind and first line of an error. */
export function errorLine(error: ErrorRecord): string {
  return oneLine(`${error.kind}: ${firstLine(error.message, ERROR_CHARS)}`, ERROR_CHARS);
}

function errorOutcome(error: ErrorRecord, isBrief: boolean): string {
  return isBrief ? oneLine(error.kind, OUTCOME_CHARS) : errorLine(error);
}

/** How a model is shown a step, who edited it, and whether there are warnings. */
export function labelsOf(step: AnyStepRecord): string[] {
  const nWarnings = countWarnings(step);
  return [...laidOnLabels(step.laid_on), ...(nWarnings ? [counted(nWarnings, 'warning')] : [])];
}

/** Whether the labels of a step say something that is easily overlooked and should not be. */
export function isStriking(step: AnyStepRecord): boolean {
  return step.laid_on?.view === 'hidden' || countWarnings(step) > 0;
}

export function laidOnLabels(laidOn: LaidOnRecord | undefined): string[] {
  if (!laidOn) {
    return [];
  }
  const labels: string[] = laidOn.view ? [VIEWS[laidOn.view]] : [];
  if (laidOn.form && laidOn.view !== 'hidden') {
    labels.push(FORMS[laidOn.form]);
  }
  if (laidOn.is_pinned) {
    labels.push(WORDS.pinned);
  }
  if (laidOn.edited_by !== undefined) {
    const at = (laidOn.edited_at ?? '').slice(0, 16).replace('T', ' ');
    labels.push(`edited by ${oneLine(laidOn.edited_by, 40)}${at ? `, ${at} UTC` : ''}`);
  }
  return labels;
}

/**
 * The line that tells best what code does, the first one that is no comment, no import and no bare
 * beginning; `…` if there are more.
 */
export function codeLine(code: string): string {
  const lines = linesOf(code)
    .map(line => line.trim())
    .filter(Boolean);
  const some = lines.filter(line => !UNTELLING.test(line));
  const telling = some.find(line => !BEGINNING.test(line)) ?? some[0] ?? lines[0] ?? '';
  return oneLine(telling, ARGUMENTS_CHARS) + (lines.length > 1 ? ' …' : '');
}

/** The code that the person had run in the place of the model's, if there is any; and the other notes. */
export function splitEdit(call: CallRecord): { edited: string; notes: string[] } {
  const notes = call.notes ?? [];
  const note = call.code === undefined ? undefined : notes.find(one => one.startsWith(EDITED_CODE));
  return { edited: note?.slice(EDITED_CODE.length) ?? '', notes: notes.filter(one => one !== note) };
}

function codeTitle(call: CallRecord, written: string, isRunning: boolean, isBrief: boolean): Title {
  const code = splitEdit(call).edited || written;
  const nLines = CUT.test(code) ? 0 : linesOf(code.trim()).length;
  const nCalls = (call.calls?.length ?? 0) + (call.calls_left_out ?? 0);
  const about = [
    ...(call.is_edited ? [WORDS.asEdited] : []),
    ...(nLines > 1 ? [counted(nLines, 'line')] : []),
    ...(nCalls ? [counted(nCalls, 'call')] : [])
  ].join(', ');
  const outcome = call.error ? errorOutcome(call.error, isBrief) : isRunning ? '…' : codeOutcome(call);
  return { code: codeLine(code), outcome, isError: call.error !== undefined, about };
}

/** What code ended in, else the last that it printed. */
function codeOutcome(call: CallRecord): string {
  const { output } = call;
  if (output) {
    const { preview = '' } = output;
    const isShort = preview.length > 0 && preview.length <= OUTCOME_CHARS && !preview.includes('\n');
    return isShort ? oneLine(preview, OUTCOME_CHARS) : valueWords(output);
  }
  const lines = linesOf(told(call)).filter(line => line.trim());
  const last = lines.at(-1) ?? '';
  if (lines[0]?.startsWith(NOTHING_TOLD)) {
    return '';
  }
  return oneLine(last.startsWith(ANSWER_GIVEN) ? last.slice(ANSWER_GIVEN.length) : last, OUTCOME_CHARS);
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

function countWarnings(step: AnyStepRecord): number {
  return (step.notes ?? []).filter(note => note.is_warning).length;
}

function said(outcome: string): Title {
  return { code: '', outcome, isError: false };
}

function diffWords(diff: PlanDiffRecord): string {
  const differs = [
    ...(diff.n_added ? [`${grouped(diff.n_added)} added`] : []),
    ...(diff.n_dropped ? [`${grouped(diff.n_dropped)} dropped`] : [])
  ];
  return differs.join(', ') || 'as before';
}

function argumentsLine(given: CallRecord['arguments']): string {
  if (typeof given === 'string') {
    return oneLine(given, ARGUMENTS_CHARS);
  }
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(given)) {
    const part = `${oneLine(name, 40)}=${short(value)}`;
    parts.push(part);
    length += part.length + 2;
    if (length > ARGUMENTS_CHARS) {
      break;
    }
  }
  const line = parts.join(', ');
  return length - 2 <= ARGUMENTS_CHARS ? line : `${cutBefore(line, ARGUMENTS_CHARS - 1)}…`;
}

function short(value: Json): string {
  const isBare = typeof value === 'string' && (isReference(value) || OBJECT.test(value));
  return oneLine(isBare ? value : jsonLine(value, ARGUMENT_CHARS), ARGUMENT_CHARS);
}
