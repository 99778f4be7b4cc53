/**
 * Python in pieces, each of one kind, told apart as in the notebook's own editor.
 *
 * The pieces together are the text, whatever it is. It must not make elements.
 */
import { highlightCode, tagHighlighter, tags } from '@lezer/highlight';
import { parser } from '@lezer/python';

export interface ICodePiece {
  text: string;
  /** Names a class: `is-keyword`; empty for what has no colour. */
  kind: string;
}

/** Code beyond so many characters has no colours. */
export const MOST_COLOURED = 10_000;

const PLAIN = 'is-plain';
/** The kinds of JupyterLab's editor, as far as they help to read. */
const KINDS = tagHighlighter([
  { tag: [tags.keyword, tags.atom, tags.bool], class: 'is-keyword' },
  { tag: tags.number, class: 'is-number' },
  { tag: [tags.definition(tags.name), tags.function(tags.definition(tags.variableName))], class: 'is-definition' },
  { tag: tags.propertyName, class: 'is-property' },
  { tag: tags.operator, class: 'is-operator' },
  { tag: tags.comment, class: 'is-comment' },
  { tag: tags.derefOperator, class: PLAIN },
  { tag: tags.string, class: 'is-string' },
  { tag: tags.escape, class: 'is-escape' },
  { tag: tags.meta, class: 'is-meta' }
]);

/** The pieces of `code`; neighbours of one kind are one piece. */
export function codePieces(code: string): ICodePiece[] {
  const coloured = code.slice(0, MOST_COLOURED);
  let pieces: ICodePiece[] = [];
  const put = (text: string, classes: string): void => {
    const kind = classes === PLAIN ? '' : classes;
    const last = pieces.at(-1);
    // White space has no colour of its own.
    if (last && (last.kind === kind || (kind === '' && text.trim() === ''))) {
      last.text += text;
    } else {
      pieces.push({ text, kind });
    }
  };
  try {
    highlightCode(coloured, parser.parse(coloured), KINDS, put, () => {
      put('\n', '');
    });
  } catch {
    pieces = [{ text: coloured, kind: '' }]; // nested deeper than the page's stack
  }
  if (code.length > coloured.length) {
    put(code.slice(coloured.length), '');
  }
  return pieces;
}
