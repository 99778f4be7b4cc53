/**
 * Titles as they stand on a line. It must not know what they are the titles of.
 */
import { append, el } from './elements';
import type { Title } from './titles';

/** Titles on one line, parted by dots. */
export function titleNode(titles: Title[]): HTMLElement {
  const node = el('span', titles.some(title => title.code) ? 'title is-code' : 'title');
  titles.forEach((title, i) => {
    append(node, i > 0 && ' · ', title.code, title.about && el('span', 'about', ` (${title.about})`));
    if (title.isError) {
      append(node, title.code && ' ', el('span', 'fault', `✗ ${title.outcome}`));
    } else if (title.outcome) {
      append(node, title.code ? ` → ${title.outcome}` : title.outcome);
    }
  });
  return node;
}
