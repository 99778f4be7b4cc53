/**
 * Section: a heading that opens a part of the panel. It must not know what it holds.
 */
import { arrange, append, el, say } from '../steps/elements';
import type { Child } from '../steps/elements';

export class Section {
  readonly node = el('div', 'panel-section');
  private readonly _toggle = el('button', 'fold-line panel-heading');
  private readonly _about = el('span', 'fine');
  private readonly _weak = el('span', 'warning');
  private readonly _body = el('div', 'panel-body');

  /** `onOpen` is called when it was opened, and fills `children` in by `show`. */
  constructor(
    heading: string,
    isOpen: boolean,
    private readonly _onOpen: () => void
  ) {
    this._toggle.type = 'button';
    append(this._toggle, el('span', 'role', heading), this._about, this._weak);
    this._toggle.addEventListener('click', () => {
      this._set(!this.isOpen);
      if (this.isOpen) {
        this._onOpen();
      }
    });
    this.node.append(this._toggle);
    this._set(isOpen);
  }

  get isOpen(): boolean {
    return this._toggle.getAttribute('aria-expanded') === 'true';
  }

  /** What stands beside the heading, and in the colour of warnings after it. */
  tell(about: string, weak = ''): void {
    say(this._about, about);
    say(this._weak, weak);
    this._weak.hidden = !weak;
  }

  /** Hold exactly these. */
  show(...children: Child[]): void {
    const nodes = children.filter((child): child is Node => child instanceof Node);
    arrange(this._body, nodes);
  }

  private _set(isOpen: boolean): void {
    this._toggle.setAttribute('aria-expanded', String(isOpen));
    arrange(this.node, isOpen ? [this._toggle, this._body] : [this._toggle]);
  }
}
