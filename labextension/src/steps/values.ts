/**
 * Values of arguments: a table of names, and a tree where a value has parts of its own.
 *
 * Parts are made when they are opened. It must not know whose values they are.
 */
import type { CallRecord, Json } from '../protocol';
import { block, labelled } from './block';
import { el } from './elements';
import { counted, grouped } from './figures';
import { firstOf, fold } from './fold';
import { bareText, jsonLine } from './jsonText';
import { oneLine } from './text';
import type { IScene } from './scene';
import { WORDS } from './words';

const FIRST_ITEMS = 50;
const LINE_CHARS = 80;
const NAME_CHARS = 60;
const FLAT_CHARS = 72;

/** The arguments of a call; null if there are none. */
export function argumentsNode(
  scene: IScene,
  key: string,
  given: CallRecord['arguments']
): HTMLElement | null {
  if (typeof given === 'string') {
    return labelled(WORDS.argumentsAsWritten, given);
  }
  return Object.keys(given).length ? table(scene, key, given) : null;
}

/** Names and values, a row each. */
function table(scene: IScene, key: string, values: { [name: string]: Json }): HTMLElement {
  const body = el('tbody');
  const node = el('div', '', el('table', 'table', body));
  firstOf(
    body,
    Object.entries(values),
    FIRST_ITEMS,
    ([name, value], place) => row(oneLine(name, NAME_CHARS), valueNode(scene, `${key}/${place}`, value)),
    nMore => `${grouped(nMore)} more`,
    node
  );
  return node;
}

/** Names and what is said of each. */
export function wordTable(rows: readonly (readonly [string, string])[]): HTMLElement {
  const body = el('tbody');
  body.append(
    ...rows.map(([name, words]) => row(oneLine(name, NAME_CHARS), el('span', 'value', words)))
  );
  return el('table', 'table', body);
}

function row(name: string, value: HTMLElement): HTMLElement {
  const head = el('th', 'name', name);
  head.scope = 'row';
  return el('tr', '', head, el('td', '', value));
}

function valueNode(scene: IScene, key: string, value: Json): HTMLElement {
  if (value !== null && typeof value === 'object') {
    return isFlat(value) ? el('span', 'value', jsonLine(value, FLAT_CHARS)) : tree(scene, key, value);
  }
  const text = bareText(value, 1_000);
  return text.length > 300 || text.includes('\n') ? block(text) : el('span', 'value', text);
}

function isFlat(value: Json[] | { [name: string]: Json }): boolean {
  return jsonLine(value, FLAT_CHARS + 1).length <= FLAT_CHARS;
}

function tree(scene: IScene, key: string, value: Json[] | { [name: string]: Json }): HTMLElement {
  const isList = Array.isArray(value);
  const n = isList ? value.length : Object.keys(value).length;
  return fold(scene, {
    key,
    classes: 'tree',
    title: [
      el('span', 'value', jsonLine(value, LINE_CHARS)),
      el('span', 'label', ` ${counted(n, isList ? 'item' : 'name')}`)
    ],
    fill: body => {
      body.append(table(scene, key, isList ? numbered(value) : value));
    }
  });
}

function numbered(items: Json[]): { [name: string]: Json } {
  return Object.fromEntries(items.map((item, place) => [`${place}`, item]));
}
