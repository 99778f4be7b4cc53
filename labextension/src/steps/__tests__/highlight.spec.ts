import { describe, expect, it } from 'vitest';

import { codePieces, MOST_COLOURED } from '../highlight';
import { ATTACKS } from './xss';

const joined = (code: string): string =>
  codePieces(code)
    .map(piece => piece.text)
    .join('');

const CODE = `import pandas as pd

@cached
def mean(city: str = "Oslo"):  # one city
    return df.loc[df.city == city].price.mean() if True else None
print(f"{mean():,.1f}\\n", 3)
`;

describe('codePieces', () => {
  it('tells keywords, names that are defined, texts, figures and comments apart', () => {
    const kinds = new Map<string, string[]>();
    for (const { text, kind } of codePieces(CODE)) {
      kinds.set(kind, [...(kinds.get(kind) ?? []), text.trim()]);
    }
    expect(kinds.get('is-keyword')).toEqual(['import', 'as', 'def', 'return', 'if True else None', ',.1f']);
    expect(kinds.get('is-definition')).toEqual(['mean']);
    expect(kinds.get('is-string')).toEqual(['"Oslo"', 'f"', '"']);
    expect(kinds.get('is-escape')).toEqual(['\\n']);
    expect(kinds.get('is-number')).toEqual(['3']);
    expect(kinds.get('is-comment')).toEqual(['# one city']);
    expect(kinds.get('is-property')).toEqual(['loc', 'city', 'price', 'mean']);
    expect(kinds.get('is-operator')).toEqual(['=', '==']);
    expect(kinds.get('is-meta')).toEqual(['@']);
  });

  it.each([
    ['nothing', ''],
    ['a line', 'x = 1'],
    ['lines', CODE],
    ['line ends and spaces alone', '\n\n  \n\t\n'],
    ['a text that never ends', 'x = """\n<b>'],
    ['no Python', '<p>{{ x }}</p> ¿qué? 👩‍👩‍👧'],
    ['brackets that close in vain', ')]}'.repeat(100)],
    ['brackets deeper than a stack', '('.repeat(9_000)],
    ['lambdas deeper than a stack', 'lambda:'.repeat(1_400)],
    ['blocks deeper than a stack', Array.from({ length: 120 }, (_, i) => `${' '.repeat(i)}if x:`).join('\n')],
    ['more than is coloured', 'x = 1\n'.repeat(MOST_COLOURED)]
  ])('loses nothing of %s', (_what, code) => {
    expect(joined(code)).toBe(code);
  });

  it('loses nothing of any attack', () => {
    for (const attack of ATTACKS) {
      expect(joined(attack)).toBe(attack);
    }
  });

  it('leaves what is very long without colours', () => {
    const pieces = codePieces('x = 1\n'.repeat(MOST_COLOURED));
    expect(pieces.length).toBeLessThan(MOST_COLOURED);
    expect(pieces.at(-1)?.kind).toBe('');
  });

  it('reads a long block in a moment', () => {
    const code = 'prices["Oslo"] = df.groupby("city").price.mean()  # of all\n'.repeat(170);
    codePieces(code); // warm
    const start = performance.now();
    codePieces(code);
    expect(performance.now() - start).toBeLessThan(200);
  });
});
