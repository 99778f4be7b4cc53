/**
 * A list of rows of which only those in sight are in the page, however many there are.
 *
 * Closed rows are of one height; opened ones are measured. A short list has no bounds of its own; a
 * long one scrolls, and follows its end while the person is there. It must not know what rows show.
 */
import { arrange, el, keepShortcutsOff, toggleClass } from './elements';

/** What a list draws. */
export interface IRows {
  readonly length: number;
  /** The row's element as it should be now; made when it is asked for first. */
  draw(index: number): HTMLElement;
  isOpen(index: number): boolean;
  /** The row is out of sight. */
  drop(index: number): void;
}

/** More rows than this scroll in a box of their own. */
export const MOST_UNBOUNDED = 30;
const ROW_PX = 27;
const BOX_PX = 396;
const AT_END_PX = 16;
const OVERSCAN = 1;
const AROUND = 8;

export class VirtualList {
  readonly node = el('div', 'list');
  private readonly _above = el('div', 'space');
  private readonly _below = el('div', 'space');
  private readonly _drawn = new Map<number, HTMLElement>();
  private readonly _heights = new Map<number, number>();
  private readonly _sizes: ResizeObserver | null;
  private _rowPx = ROW_PX;
  private _first = 0;
  private _focused = -1;
  private _isFollowing = false;
  private _tail: HTMLElement | null = null;

  constructor(
    private readonly _rows: IRows,
    private readonly _redraw: () => void,
    label: string
  ) {
    this.node.setAttribute('role', 'list');
    this.node.setAttribute('aria-label', label);
    this.node.tabIndex = -1;
    keepShortcutsOff(this.node);
    for (const space of [this._above, this._below]) {
      space.setAttribute('role', 'presentation');
    }
    this.node.addEventListener('scroll', () => {
      this._isFollowing = this._isAtEnd();
      this._redraw();
    });
    this.node.addEventListener('keydown', event => {
      this._onKey(event);
    });
    this.node.addEventListener('focusin', event => {
      this._focused = this._indexOf(event.target as Node);
    });
    this._sizes =
      typeof ResizeObserver === 'function'
        ? new ResizeObserver(() => {
            this._redraw();
          })
        : null;
  }

  /** Keep to the end from now on. */
  follow(): void {
    this._isFollowing = true;
  }

  /** Draw what is in sight; `tail` stands after the last row, whole. */
  update(tail: HTMLElement | null): void {
    const { length } = this._rows;
    const isBounded = length > MOST_UNBOUNDED;
    toggleClass(this.node, 'is-bounded', isBounded);
    this._forget();
    this._tail = tail;
    if (!isBounded) {
      this._show(0, length);
      return;
    }
    if (this._isFollowing) {
      // The end may be further down than anything measured, so it is drawn before it is scrolled to.
      this._show(this._indexAt(this._offset(length) - this._boxPx()) - OVERSCAN, length);
      this.node.scrollTop = this.node.scrollHeight;
      return;
    }
    const top = this.node.scrollTop;
    this._show(this._indexAt(top) - OVERSCAN, this._indexAt(top + this._boxPx()) + 1 + OVERSCAN);
  }

  /** Bring a row into sight and give its line the focus. */
  focus(index: number): void {
    const last = this._rows.length - 1;
    const to = Math.min(Math.max(index, 0), last);
    if (!this._drawn.has(to)) {
      this._isFollowing = to === last && this._isFollowing;
      this.node.scrollTop = this._offset(to) - (to < this._focused ? 0 : this._boxPx() - this._rowPx);
      this.update(this._tail);
    }
    if (!this._drawn.has(to)) {
      this._show(to - AROUND, to + AROUND); // what is not measured yet may be of another height
    }
    this._drawn.get(to)?.querySelector('button')?.focus();
  }

  dispose(): void {
    this._sizes?.disconnect();
  }

  private _show(from: number, to: number): void {
    const first = Math.max(from, 0);
    const last = Math.min(to, this._rows.length);
    const hadFocus = this.node.contains(document.activeElement);
    for (const [index, node] of this._drawn) {
      if (index < first || index >= last) {
        this._drawn.delete(index);
        this._sizes?.unobserve(node);
        this._rows.drop(index);
      }
    }
    const nodes: HTMLElement[] = [];
    for (let index = first; index < last; index++) {
      const node = this._rows.draw(index);
      if (this._drawn.get(index) !== node) {
        this._drawn.set(index, node);
        node.setAttribute('aria-posinset', String(index + 1));
      }
      node.setAttribute('aria-setsize', String(this._rows.length));
      nodes.push(node);
    }
    this._first = first;
    arrange(this.node, [this._above, ...nodes, this._below, ...(this._tail ? [this._tail] : [])]);
    this._measure();
    // Not only while it is in sight: the box must not change its height as it is scrolled.
    toggleClass(this.node, 'has-open', this._heights.size > 0);
    this._above.style.height = `${this._offset(first)}px`;
    this._below.style.height = `${this._offset(this._rows.length) - this._offset(last)}px`;
    if (hadFocus && !this.node.contains(document.activeElement)) {
      this.node.focus({ preventScroll: true });
    }
  }

  /** Learn how high the rows in the page are; those above the first in sight must not shift it. */
  private _measure(): void {
    for (const [index, node] of this._drawn) {
      const px = node.getBoundingClientRect().height; // fractions add up over thousands of rows
      if (!px) {
        continue;
      }
      if (!this._rows.isOpen(index)) {
        this._rowPx = px;
        this._heights.delete(index);
        this._sizes?.unobserve(node);
        continue;
      }
      const before = this._heights.get(index) ?? this._rowPx;
      this._heights.set(index, px);
      this._sizes?.observe(node);
      if (index < this._first + OVERSCAN && this._offset(index) + before < this.node.scrollTop) {
        this.node.scrollTop += px - before;
      }
    }
  }

  private _forget(): void {
    for (const index of this._heights.keys()) {
      if (index >= this._rows.length || !this._rows.isOpen(index)) {
        this._heights.delete(index);
      }
    }
  }

  /** Where a row begins, in pixels from the first. */
  private _offset(index: number): number {
    let px = index * this._rowPx;
    for (const [open, height] of this._heights) {
      if (open < index) {
        px += height - this._rowPx;
      }
    }
    return px;
  }

  /** The row at a height. */
  private _indexAt(px: number): number {
    let low = 0;
    let high = this._rows.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this._offset(middle) <= px) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private _boxPx(): number {
    return this.node.clientHeight || BOX_PX;
  }

  private _isAtEnd(): boolean {
    const { scrollTop, clientHeight, scrollHeight } = this.node;
    return scrollTop + clientHeight >= scrollHeight - AT_END_PX;
  }

  private _indexOf(target: Node): number {
    for (const [index, node] of this._drawn) {
      if (node.contains(target)) {
        return index;
      }
    }
    return this._focused;
  }

  private _onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const row = this._drawn.get(this._focused);
    const isOnLine = target === this.node || target === row?.querySelector('button');
    if (!isOnLine || this._focused < 0 || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const to = {
      ArrowDown: this._focused + 1,
      ArrowUp: this._focused - 1,
      Home: 0,
      End: this._rows.length - 1
    }[event.key];
    const isOpen = this._rows.isOpen(this._focused);
    if (to !== undefined) {
      this.focus(to);
    } else if ((event.key === 'ArrowRight' && !isOpen) || (event.key === 'ArrowLeft' && isOpen)) {
      row?.querySelector('button')?.click();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
