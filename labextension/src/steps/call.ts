/**
 * One call, opened: what was asked (arguments, or the code and the calls that it made), what it printed
 * and gave, its error, what keeps its value.
 *
 * It must not know the step around it.
 */
import type { CallRecord, ErrorRecord } from '../protocol';
import { block, codeBlock, label, labelled } from './block';
import { append, el } from './elements';
import type { Child } from './elements';
import { gap, grouped, inSeconds } from './figures';
import { firstOf, fold } from './fold';
import { laneNode } from './lane';
import { picture } from './picture';
import type { IScene } from './scene';
import { sound } from './sound';
import { cutBefore, oneLine } from './text';
import { titleNode } from './titleNode';
import { callTitle, splitEdit, told, valueWords } from './titles';
import { argumentsNode } from './values';
import { WORDS } from './words';

/** Of code: so many of its calls stand in the page, unless a person wants all. */
export const FIRST_INNER = 8;

/** `key` says where it stands, for what is opened in it. */
export function callNode(scene: IScene, key: string, call: CallRecord): HTMLElement {
  const node = el('div', call.run ? 'call has-lane' : 'call', ...askedParts(scene, key, call));
  append(node, ...noteParts(call), ...innerCalls(scene, key, call));
  if (call.run) {
    append(node, laneNode(scene, `${key}/run`, call.run));
  }
  if (call.printed) {
    append(node, labelled(WORDS.printed, call.printed));
  }
  const observation = told(call);
  if (observation) {
    append(node, labelled(WORDS.observation, observation));
  }
  if (call.error) {
    append(node, errorNode(call.error));
  }
  if (call.output?.preview && call.code === undefined) {
    // What code ended in stands in its observation.
    append(node, labelled(WORDS.output, call.output.preview));
  }
  append(node, ...(call.images ?? []).map(picture), ...(call.sounds ?? []).map(sound));
  if (call.bound_to) {
    append(
      node,
      el(
        'div',
        '',
        el('span', 'label', `${WORDS.keptAs} `),
        el('code', '', oneLine(call.bound_to, 80)),
        el('span', 'label', ` ${valueWords(call.output)}`)
      )
    );
  }
  return node;
}

/** A call on a line that opens it. */
export function callRow(scene: IScene, key: string, call: CallRecord, isRunning = false): HTMLElement {
  return fold(scene, {
    key,
    classes: isRunning ? 'is-running' : '',
    title: [titleNode([callTitle(call, { isRunning })]), tookNode(call)],
    fill: body => {
      append(body, callNode(scene, key, call));
    }
  });
}

/** Where the row of a call that code made stands: the same while it runs and after. */
export function innerKey(key: string, call: CallRecord): string {
  return `${key}/inner ${call.id}`;
}

/** What went wrong and, in further lines, what to do. */
export function errorNode(error: ErrorRecord): HTMLElement {
  const node = el('div', 'error', el('div', 'error-kind', cutBefore(error.kind, 200)));
  append(node, error.message ? block(error.message) : label(WORDS.empty));
  return node;
}

/** How long a call took; nothing if that is not known. */
export function tookNode(call: CallRecord): Child {
  return call.duration_s !== undefined && el('span', 'label', inSeconds(call.duration_s));
}

function askedParts(scene: IScene, key: string, call: CallRecord): Child[] {
  const { code } = call;
  if (code !== undefined) {
    const { edited } = splitEdit(call);
    return [
      el('div', 'call-head', el('span', 'label', edited ? WORDS.codeAsChanged : WORDS.code), tookNode(call)),
      codeBlock(edited || code),
      edited && original(scene, key, code)
    ];
  }
  return [
    el('div', 'call-head', el('code', 'call-name', oneLine(call.name, 80)), tookNode(call)),
    argumentsNode(scene, `${key}/arguments`, call.arguments)
  ];
}

function original(scene: IScene, key: string, code: string): HTMLElement {
  return fold(scene, {
    key: `${key}/original`,
    title: [el('span', 'label', WORDS.asModelWrote)],
    fill: body => {
      append(body, codeBlock(code));
    }
  });
}

function noteParts(call: CallRecord): HTMLElement[] {
  return splitEdit(call).notes.map(note => el('div', 'fine', `(${note})`));
}

/** The calls that code made, and where some of them are left out. */
function innerCalls(scene: IScene, key: string, call: CallRecord): HTMLElement[] {
  const { calls = [], calls_left_out: nLeftOut = 0 } = call;
  if (!calls.length && !nLeftOut) {
    return [];
  }
  const rows = el('div', 'inner-calls');
  const gapAt = Math.floor(calls.length / 3);
  firstOf(
    rows,
    calls,
    FIRST_INNER,
    (inner, place) => {
      const row = callRow(scene, innerKey(key, inner), inner);
      return nLeftOut && place === gapAt ? both(label(gap(nLeftOut, 'call')), row) : row;
    },
    nMore => `${WORDS.showAll} (${grouped(nMore)} more calls)`
  );
  if (!calls.length) {
    append(rows, label(gap(nLeftOut, 'call')));
  }
  return [label(`${WORDS.calls} (${grouped(calls.length + nLeftOut)})`), rows];
}

function both(...nodes: Node[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...nodes);
  return fragment;
}
