/**
 * Small forms: the parts of a step, or what is asked for, in text areas that can be sent or left.
 *
 * What is no JSON is said before anything is sent. It must not know what becomes of what is sent.
 */
import type { AnyStepRecord, CallRecord, Json, StepChanges } from '../protocol';
import { append, button, el } from './elements';
import { isObject, json } from './reading';
import { oneLine } from './text';
import { WORDS } from './words';

// The note that the kernel puts where it cut a text.
const CUT = /… [\d,]+ characters cut|\[redacted\]/;

/** Arguments as they stand in a text area. */
export function editableArguments(given: CallRecord['arguments']): string {
  return typeof given === 'string' ? given : JSON.stringify(given, null, 2);
}

/** Arguments read from a text area; a text says what is wrong with them. */
export function parseArguments(text: string): { [name: string]: Json } | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return `${WORDS.notJson}: ${error instanceof Error ? oneLine(error.message, 200) : ''}`;
  }
  return isObject(given) ? (json(given) as { [name: string]: Json }) : WORDS.notObject;
}

/** A text area with its label; as high as its text, within bounds. Lines of code are not broken. */
export function area(
  label: string,
  text: string,
  { isCode = false } = {}
): { node: HTMLElement; field: HTMLTextAreaElement } {
  const field = el('textarea', isCode ? 'field is-python' : 'field');
  field.value = text;
  field.rows = Math.min(Math.max(text.split('\n').length, 2), 16);
  field.spellcheck = false;
  field.addEventListener('keydown', breakLine);
  return { node: el('label', 'form-part', el('span', 'label', label), field), field };
}

/** Enter breaks the line: Lab takes it for the cell, in some of its versions before it comes here. */
function breakLine(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  event.stopPropagation();
  event.preventDefault();
  const field = event.currentTarget as HTMLTextAreaElement;
  // The old way is the one that the browser's own undo knows.
  const isDone = typeof document.execCommand === 'function' && document.execCommand('insertText', false, '\n');
  if (!isDone) {
    field.setRangeText('\n', field.selectionStart, field.selectionEnd, 'end');
  }
}

/** The form that edits a step: only what was changed is given to `save`, which gives a refusal or ''. */
export function stepForm(
  step: AnyStepRecord,
  save: (changes: StepChanges) => Promise<boolean>,
  close: () => void
): HTMLElement {
  const parts: IPart[] = 'plan' in step ? [planPart(step.plan)] : actionParts(step);
  const fault = el('div', 'said is-error');
  fault.setAttribute('role', 'alert');
  const saveButton = button(WORDS.save, 'button is-main', () => {
    const changes: StepChanges = {};
    for (const part of parts) {
      const wrong = part.put(changes);
      if (wrong) {
        fault.textContent = wrong;
        return;
      }
    }
    fault.textContent = '';
    if (!Object.keys(changes).length) {
      close();
      return;
    }
    saveButton.disabled = true;
    void save(changes).then(isSaved => {
      saveButton.disabled = false;
      if (isSaved) {
        close();
      }
    });
  });
  const node = el('div', 'form', ...parts.map(part => part.node));
  const isCut = parts.some(part => CUT.test(part.field.value));
  append(node, isCut && el('div', 'warning', `⚠ ${WORDS.cutHere}`), fault, el('div', 'tools', saveButton, button(WORDS.cancel, 'button', close)));
  return node;
}

interface IPart {
  node: HTMLElement;
  field: HTMLTextAreaElement;
  /** Adds what was changed; gives what is wrong with it. */
  put: (changes: StepChanges) => string;
}

function planPart(plan: string): IPart {
  return textPart(WORDS.plan, plan, (changes, text) => {
    changes.plan = text;
  });
}

function actionParts(step: Exclude<AnyStepRecord, { kind: 'plan' }>): IPart[] {
  const parts = [
    textPart(WORDS.thought, step.thought ?? '', (changes, text) => {
      changes.model_output = text;
    })
  ];
  for (const call of step.calls ?? []) {
    const name = oneLine(call.name, 60);
    const what = call.code === undefined ? `: ${name}` : '';
    parts.push(what ? argumentsPart(`${WORDS.argumentsOf}${what}`, call) : codePart(call));
    parts.push(
      textPart(`${WORDS.observation}${what}`, call.error?.message ?? call.observation ?? '', (changes, text) => {
        changes.observations = withOwn(changes.observations, call.id, text);
      })
    );
  }
  return parts;
}

function textPart(
  label: string,
  before: string,
  put: (changes: StepChanges, text: string) => void,
  { isCode = false } = {}
): IPart {
  const { node, field } = area(label, before, { isCode });
  const shown = field.value; // a text area has its own line ends
  return {
    node,
    field,
    put: changes => {
      if (field.value !== shown) {
        put(changes, field.value);
      }
      return '';
    }
  };
}

function codePart(call: CallRecord): IPart {
  const put = (changes: StepChanges, text: string): void => {
    changes.arguments = withOwn(changes.arguments, call.id, { code: text });
  };
  return textPart(WORDS.code, call.code ?? '', put, { isCode: true });
}

function argumentsPart(label: string, call: CallRecord): IPart {
  const { node, field } = area(label, editableArguments(call.arguments));
  const shown = field.value;
  return {
    node,
    field,
    put: changes => {
      if (field.value === shown) {
        return '';
      }
      const given = parseArguments(field.value);
      if (typeof given === 'string') {
        return given;
      }
      changes.arguments = withOwn(changes.arguments, call.id, given);
      return '';
    }
  };
}

function withOwn<T>(mapping: { [id: string]: T } | undefined, id: string, value: T): { [id: string]: T } {
  return Object.fromEntries([...Object.entries(mapping ?? {}), [id, value]]);
}
