/**
 * JSON on one line, as far as there is room. It must not make elements.
 *
 * Nothing is written that will be cut: a value may hold millions of characters.
 */
import type { Json } from '../protocol';
import { cutBefore } from './text';

const DEEPEST = 20;
const REFERENCE = /^@[\p{L}_][\p{L}\p{N}\p{M}_]{0,200}$/u;

/** `{"city": "Oslo", "n": 3}`, its end cut with `…`. */
export function jsonLine(value: Json, maxChars: number): string {
  const parts: string[] = [];
  let left = maxChars + 1;
  const put = (part: string): boolean => {
    parts.push(part);
    left -= part.length;
    return left > 0;
  };
  write(value, put, DEEPEST, () => left);
  const line = parts.join('');
  return line.length <= maxChars ? line : `${cutBefore(line, maxChars - 1)}…`;
}

/** A value as a person reads it: references and long texts bare, the rest as JSON. */
export function bareText(value: Json, maxChars: number): string {
  if (typeof value === 'string' && (isReference(value) || value.includes('\n') || value.length > 200)) {
    return value;
  }
  return jsonLine(value, maxChars);
}

/** Whether a text is `@name` and means a variable. */
export function isReference(value: Json): boolean {
  return typeof value === 'string' && REFERENCE.test(value);
}

function write(
  value: Json,
  put: (part: string) => boolean,
  depth: number,
  room: () => number
): boolean {
  if (typeof value === 'string') {
    return put(JSON.stringify(cutBefore(value, Math.max(room(), 1))));
  }
  if (value === null || typeof value !== 'object') {
    return put(String(value));
  }
  if (depth === 0) {
    return put('…');
  }
  const isList = Array.isArray(value);
  if (!put(isList ? '[' : '{')) {
    return false;
  }
  let isFirst = true;
  for (const [key, item] of isList ? value.entries() : Object.entries(value)) {
    if (!isFirst && !put(', ')) {
      return false;
    }
    isFirst = false;
    if (typeof key === 'string' && !put(`${JSON.stringify(cutBefore(key, Math.max(room(), 1)))}: `)) {
      return false;
    }
    if (!write(item, put, depth - 1, room)) {
      return false;
    }
  }
  return put(isList ? ']' : '}');
}
