/**
 * A line that opens what it stands for. What is inside is made when it is opened, not before.
 *
 * Whether it is open is kept in the store, so that it stays so when it is drawn anew. It must not
 * know what it holds.
 */
import { append, button, el, toggleClass } from './elements';
import type { Child } from './elements';
import type { IScene } from './scene';

export interface IFoldOptions {
  /** Where it stands, so that it is found again: `3/reasoning`. */
  key: string;
  title: Child[];
  fill: (body: HTMLElement) => void;
  classes?: string;
  isOpen?: boolean;
}

/** The line and, while it is open, its body. */
export function fold(scene: IScene, options: IFoldOptions): HTMLElement {
  const { key, title, fill, classes = '', isOpen = false } = options;
  const toggle = el('button', 'fold-line', ...title);
  toggle.type = 'button';
  const node = el('div', classes ? `fold ${classes}` : 'fold', toggle);
  const draw = (isNowOpen: boolean): void => {
    toggle.setAttribute('aria-expanded', String(isNowOpen));
    toggleClass(node, 'is-open', isNowOpen);
    if (node.lastChild !== toggle) {
      node.lastChild?.remove();
    }
    if (isNowOpen) {
      const body = el('div', 'fold-body');
      fill(body);
      append(node, body);
    }
  };
  toggle.addEventListener('click', () => {
    const isNowOpen = toggle.getAttribute('aria-expanded') !== 'true';
    scene.store.setOpen(key, isNowOpen);
    draw(isNowOpen);
  });
  draw(scene.store.isOpen(key, isOpen));
  return node;
}

/** Draw the first of many, and a button (in `moreIn`) that draws the rest. */
export function firstOf<T>(
  parent: HTMLElement,
  items: readonly T[],
  nFirst: number,
  draw: (item: T, place: number) => Node,
  moreWords: (nMore: number) => string,
  moreIn = parent
): void {
  items.slice(0, nFirst).forEach((item, place) => parent.append(draw(item, place)));
  const rest = items.slice(nFirst);
  if (rest.length) {
    const more = button(moreWords(rest.length), 'button is-quiet', () => {
      more.remove();
      parent.append(...rest.map((item, i) => draw(item, nFirst + i)));
    });
    moreIn.append(more);
  }
}
