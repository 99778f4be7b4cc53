/**
 * One tool call, opened: its arguments, what it printed and gave, its error, what keeps its value.
 *
 * It must not know the step around it.
 */
import type { CallRecord, ErrorRecord } from '../protocol';
import { block, label, labelled } from './block';
import { append, el } from './elements';
import { inSeconds } from './figures';
import { picture } from './picture';
import type { IScene } from './scene';
import { cutBefore, oneLine } from './text';
import { told, valueWords } from './titles';
import { argumentsNode } from './values';
import { WORDS } from './words';

/** `key` says where it stands, for what is opened in it. */
export function callNode(scene: IScene, key: string, call: CallRecord): HTMLElement {
  const took = call.duration_s === undefined ? '' : inSeconds(call.duration_s);
  const node = el(
    'div',
    'call',
    el('div', 'call-head', el('code', 'call-name', oneLine(call.name, 80)), took && el('span', 'label', took)),
    argumentsNode(scene, `${key}/arguments`, call.arguments)
  );
  for (const note of call.notes ?? []) {
    append(node, el('div', 'fine', `(${note})`));
  }
  if (call.printed) {
    append(node, labelled(WORDS.printed, call.printed));
  }
  const observation = told(call);
  if (call.error) {
    append(node, errorNode(call.error));
  } else if (observation) {
    append(node, labelled(WORDS.observation, observation));
  }
  if (call.output?.preview) {
    append(node, labelled(WORDS.output, call.output.preview));
  }
  append(node, ...(call.images ?? []).map(picture));
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

/** What went wrong and, in further lines, what to do. */
export function errorNode(error: ErrorRecord): HTMLElement {
  const node = el('div', 'error', el('div', 'error-kind', cutBefore(error.kind, 200)));
  append(node, error.message ? block(error.message) : label(WORDS.empty));
  return node;
}
