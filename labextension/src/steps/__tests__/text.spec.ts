import { describe, expect, it } from 'vitest';

import { bareText, jsonLine } from '../jsonText';
import { cutAfter, cutBefore, firstLine, oneLine, toDisplay } from '../text';

describe('toDisplay', () => {
  it.each([
    ['plain', 'plain'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]8;;http://127.0.0.1\x07link\x1b]8;;\x07', 'link'],
    ['a\x00b\x08c\x7fd\x9fe', 'abcde'],
    ['one\r\ntwo', 'one\ntwo'],
    ['10%\r50%\r100%\n', '100%\n'],
    ['done\r', 'done'],
    ['\u202etxt\u202c', '⟨U+202E⟩txt⟨U+202C⟩'],
    ['\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
    ['\ud800a\udfff', '\ufffda\ufffd'],
    ['👩‍👩‍👧 é \u200f', '👩‍👩‍👧 é \u200f']
  ])('shows %j as %j', (text, shown) => {
    expect(toDisplay(text)).toBe(shown);
  });
});

describe('cutting', () => {
  it('puts a text on one line', () => {
    expect(oneLine(' a\n  b\t c ')).toBe('a b c');
  });

  it('says that a line goes on', () => {
    expect(oneLine('abcdef', 4)).toBe('abc…');
  });

  it('takes the first line that says something', () => {
    expect(firstLine('\n \n  Oslo. \nBergen')).toBe('Oslo.');
    expect(firstLine('\n\n')).toBe('');
  });

  it('never leaves half of a sign', () => {
    expect(cutBefore('a👩', 2)).toBe('a');
    expect(cutAfter('👩b', 2)).toBe('b');
  });
});

describe('jsonLine', () => {
  it('writes as Python does', () => {
    expect(jsonLine({ a: [1, null, 'x'], b: { c: true } }, 100)).toBe('{"a": [1, null, "x"], "b": {"c": true}}');
  });

  it('stops when there is no room', () => {
    expect(jsonLine('x'.repeat(5_000_000), 10)).toBe('"xxxxxxxx…');
    expect(jsonLine(new Array<number>(1_000).fill(1), 10)).toBe('[1, 1, 1,…');
  });

  it('survives any depth', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 5_000; i++) {
      deep = [deep];
    }
    expect(jsonLine(deep as never, 1_000)).toContain('…');
  });

  it('leaves references and long texts bare', () => {
    expect(bareText('@penguins', 100)).toBe('@penguins');
    expect(bareText('@not a name', 100)).toBe('"@not a name"');
    expect(bareText('two\nlines', 100)).toBe('two\nlines');
  });
});
