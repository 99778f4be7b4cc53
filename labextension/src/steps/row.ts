/**
 * One step in the list: a line that opens, and below it the tools and the content of the step.
 *
 * It must not know where in the page the list is, nor which rows are drawn.
 */
import type { AnyStepRecord } from '../protocol';
import { stepBody } from './body';
import { append, el, toggleClass } from './elements';
import { lineParts } from './line';
import type { IScene } from './scene';
import { titlesOf } from './titles';
import { StepTools } from './tools';

export class StepRow {
  readonly node = el('div', 'step');
  private readonly _toggle = el('button', 'step-line');
  private _body: HTMLElement | null = null;
  private _content: HTMLElement | null = null;
  private _tools: StepTools | null = null;
  private _step: AnyStepRecord | null = null;

  /** `onToggle` is called after it was opened or closed. */
  constructor(
    private readonly _scene: IScene,
    private readonly _place: number,
    private readonly _onToggle: () => void
  ) {
    this.node.setAttribute('role', 'listitem');
    this._toggle.type = 'button';
    this._toggle.setAttribute('aria-expanded', 'false');
    this._toggle.addEventListener('click', () => {
      this.open(!this.isOpen);
    });
    this.node.append(this._toggle);
  }

  get isOpen(): boolean {
    return this._body !== null;
  }

  /** Whether it holds something typed that must not be thrown away. */
  get isBusy(): boolean {
    return this._tools?.isBusy === true;
  }

  /** Show a step; the same one again costs nothing. */
  update(step: AnyStepRecord, isOpen: boolean): void {
    if (step !== this._step) {
      this._step = step;
      toggleClass(this.node, 'is-hidden', step.laid_on?.view === 'hidden');
      toggleClass(this.node, 'has-fault', titlesOf(step).some(title => title.isError));
      this._toggle.replaceChildren();
      append(this._toggle, ...lineParts(step));
      this._drawContent();
    }
    if (isOpen !== this.isOpen) {
      this._setBody(isOpen);
    }
  }

  open(isOpen: boolean): void {
    this._scene.store.setOpen(String(this._place), isOpen);
    this._setBody(isOpen);
    this._onToggle();
  }

  focus(): void {
    this._toggle.focus({ preventScroll: true });
  }

  private _setBody(isOpen: boolean): void {
    this._toggle.setAttribute('aria-expanded', String(isOpen));
    toggleClass(this.node, 'is-open', isOpen);
    if (!isOpen) {
      this._body?.remove();
      this._body = this._content = this._tools = null;
      return;
    }
    this._body = el('div', 'step-body');
    const { ask } = this._scene;
    if (ask && this._step) {
      this._tools = new StepTools(this._scene, ask, this._place, this._step);
      this._body.append(this._tools.node);
    }
    this.node.append(this._body);
    this._drawContent();
  }

  private _drawContent(): void {
    if (!this._body || !this._step) {
      return;
    }
    const content = stepBody(this._scene, String(this._place), this._step);
    if (this._content) {
      this._content.replaceWith(content);
    } else {
      this._body.append(content);
    }
    this._content = content;
    this._tools?.update(this._step);
  }
}
