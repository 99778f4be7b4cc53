/** What no file of the drawing may do, looked up in its text. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

const FOLDER = resolve(import.meta.dirname, '..');
const FILES = readdirSync(FOLDER).filter(name => name.endsWith('.ts'));
const STYLE = readFileSync(resolve(FOLDER, '../../style/run.css'), 'utf8');
const MARKUP =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|createContextualFragment|setHTML|\beval\b|new Function|\.on[a-z]+ =|href|window\.open|fetch\(|XMLHttpRequest|WebSocket/;

describe.each(FILES)('%s', name => {
  const source = readFileSync(resolve(FOLDER, name), 'utf8');

  it('makes no markup, no handlers in attributes, no links, and loads nothing', () => {
    expect(MARKUP.exec(source)?.[0]).toBeUndefined();
  });

  it('does not know JupyterLab', () => {
    expect(/@jupyterlab|@lumino/.exec(source)?.[0]).toBeUndefined();
  });

  it('makes elements in elements.ts, picture.ts and sound.ts only', () => {
    const makes = /createElement/.test(source);
    expect(makes).toBe(['elements.ts', 'picture.ts', 'sound.ts'].includes(name));
  });

  it('says what it owns', () => {
    expect(source.startsWith('/**\n')).toBe(true);
  });
});

describe('run.css', () => {
  it('takes its colours from the page only: others are behind a variable of it', () => {
    const bare = STYLE.replace(/var\(--jp-[\w-]+, [^;]+;/g, ';');
    expect(/#[0-9a-f]{3,8}\b|rgb|hsl/i.exec(bare)?.[0]).toBeUndefined();
  });

  it('has a class for every name that the code uses, and no other prefix', () => {
    const others = [...STYLE.matchAll(/\.([a-zA-Z][\w-]*)/g)].filter(([, name]) => !name?.startsWith('jp-AgentMagic-'));
    expect(others.map(([found]) => found)).toEqual([]);
  });
});
