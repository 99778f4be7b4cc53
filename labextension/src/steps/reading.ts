/**
 * Reads untrusted JSON into the types of the wire: whatever comes in, what comes out has the right types.
 *
 * A field that cannot be read is left out, or has its plainest value where it must be there; unknown
 * fields are dropped. It must not decide what a record means, nor make elements.
 */
import type { Json } from '../protocol';

/** Gives a value of the type, or undefined if there is none to be read. */
export type Reader<T> = (value: unknown) => T | undefined;

type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];
/** A reader for each field of `T`; one that must be there has a value to stand in for it. */
type Shape<T> = {
  [K in keyof T]-?: K extends RequiredKeys<T> ? IRequired<T[K]> : Reader<Exclude<T[K], undefined>>;
};

interface IRequired<T> {
  read: Reader<T>;
  orElse: () => T;
}

const DEEPEST = 100;

/** A field that must be there, with what stands in for it. */
export function required<T>(read: Reader<T>, orElse: () => T): IRequired<T> {
  return { read, orElse };
}

export const text: Reader<string> = value =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined;

export const number: Reader<number> = value =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** A whole number from 0. */
export const count: Reader<number> = value =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const flag: Reader<boolean> = value => (typeof value === 'boolean' ? value : undefined);

/** JSON as it is, of any depth that a page can draw. */
export const json: Reader<Json> = value => plain(value, DEEPEST);

/** An object whose keys are data. */
export function mapping<T>(read: Reader<T>): Reader<{ [name: string]: T }> {
  return value => {
    if (!isObject(value)) {
      return undefined;
    }
    const entries: [string, T][] = [];
    for (const [name, item] of Object.entries(value)) {
      const known = read(item);
      if (known !== undefined) {
        entries.push([name, known]);
      }
    }
    return Object.fromEntries(entries); // defines `__proto__` as a field of its own
  };
}

/** One of a few words. */
export function oneOf<T extends string>(...words: T[]): Reader<T> {
  return value => words.find(word => word === value);
}

/** null stays null. */
export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return value => (value === null ? null : read(value));
}

/** The first that reads it. */
export function either<A, B>(first: Reader<A>, second: Reader<B>): Reader<A | B> {
  return value => first(value) ?? second(value);
}

/** A list of what can be read; items that cannot are dropped. */
export function list<T>(read: Reader<T>): Reader<T[]> {
  return value =>
    Array.isArray(value) ? value.map(read).filter((item): item is T => item !== undefined) : undefined;
}

/** An object with the fields of `shape`. */
export function object<T>(shape: Shape<T>): Reader<T> {
  const fields = Object.entries(shape) as [keyof T & string, Reader<unknown> | IRequired<unknown>][];
  return value => {
    if (!isObject(value)) {
      return undefined;
    }
    const made: Partial<Record<keyof T, unknown>> = {};
    for (const [name, field] of fields) {
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      if (typeof field === 'function') {
        const known = field(given);
        if (known !== undefined) {
          made[name] = known;
        }
      } else {
        const known = field.read(given);
        made[name] = known === undefined ? field.orElse() : known;
      }
    }
    return made as T; // every field of the shape was read
  };
}

/** A reader that is known later, such as one that is a part of itself; followed no deeper than `mostDepth`. */
export function lazily<T>(find: () => Reader<T>, mostDepth: number): Reader<T> {
  let depth = 0;
  return value => {
    if (!isObject(value) || depth >= mostDepth) {
      return undefined;
    }
    depth += 1;
    try {
      return find()(value);
    } finally {
      depth -= 1;
    }
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plain(value: unknown, depth: number): Json | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') {
    return value;
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : String(value);
  }
  if (depth === 0) {
    return '…';
  }
  if (Array.isArray(value)) {
    return value.map(item => plain(item, depth - 1) ?? null);
  }
  if (!isObject(value)) {
    return undefined;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, plain(item, depth - 1) ?? null])
  );
}
