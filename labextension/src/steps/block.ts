/**
 * Texts of a step: a small heading, and a text in a box that can be copied; long ones shown in parts.
 *
 * It must not know what the texts are.
 */
import { append, button, el, say } from './elements';
import { grouped } from './figures';
import { codePieces } from './highlight';
import { cutBefore, MAX_SHOWN, toDisplay } from './text';
import { WORDS } from './words';

const SAID_FOR_MS = 1_500;

/** A small grey heading. */
export function label(words: string): HTMLElement {
  return el('div', 'label', words);
}

/** Puts a part of a text, cleaned, into its box. */
type Write = (box: HTMLElement, shown: string) => void;

/** Text in a box, in the code font, line ends kept, with a button to copy all of it. */
export function block(text: string): HTMLElement {
  return boxed(text, 'block', write);
}

/** Python in such a box, in the colours of the notebook's editor; long lines are not broken. */
export function codeBlock(code: string): HTMLElement {
  return boxed(code, 'block is-python', writeCode);
}

function boxed(text: string, classes: string, put: Write): HTMLElement {
  const box = el('pre', classes);
  const node = el('div', 'block-frame', box, copyButton(text, box));
  showPart(box, text, 0, node, put);
  return node;
}

/** A text in an element of one's own, with a button to copy all of it. */
export function copyable(box: HTMLElement, text: string): HTMLElement {
  return el('div', 'block-frame', box, copyButton(text, box));
}

/** Text in the page's font, line ends kept: Markdown stays as it was written. */
export function prose(text: string): HTMLElement {
  const node = el('div', 'prose');
  showPart(node, text, 0, node, write);
  return node;
}

/** A heading and a text in a box. */
export function labelled(words: string, text: string): HTMLElement {
  return el('div', '', label(words), block(text));
}

const write: Write = (box, shown) => {
  box.append(document.createTextNode(shown));
};

const writeCode: Write = (box, shown) => {
  append(box, ...codePieces(shown).map(({ text, kind }) => (kind ? el('span', kind, text) : text)));
};

function showPart(box: HTMLElement, text: string, from: number, frame: HTMLElement, put: Write): void {
  const part = cutBefore(text.slice(from, from + MAX_SHOWN + 1), MAX_SHOWN);
  const next = from + part.length;
  put(box, toDisplay(part));
  if (next < text.length) {
    const more = button(
      `${WORDS.showMore} (${grouped(text.length - next)} characters)`,
      'button is-quiet',
      () => {
        more.remove();
        showPart(box, text, next, frame, put);
      }
    );
    frame.append(more);
  }
}

function copyButton(text: string, box: HTMLElement): HTMLElement {
  const copy = button(WORDS.copy, 'button copy', () => {
    void copied(toDisplay(text), box).then(words => {
      say(copy, words);
      setTimeout(() => {
        say(copy, WORDS.copy);
      }, SAID_FOR_MS);
    });
  });
  return copy;
}

/** Puts a text on the clipboard; where the page may not, it is selected, to be copied by keyboard. */
async function copied(text: string, box: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return WORDS.copied;
  } catch {
    getSelection()?.selectAllChildren(box);
    return WORDS.copyFailed;
  }
}
