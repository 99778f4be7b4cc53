/**
 * The controls of one opened step: how the model sees it, whether it is pinned, edit, lens.
 *
 * They live as long as the step is open, so that nothing typed is lost when the step is drawn anew.
 * It must not draw the step.
 */
import type { AnyStepRecord, StepView } from '../protocol';
import { asked, Said } from './asking';
import { arrange, button, choice, el } from './elements';
import { stepForm } from './editor';
import { Lens } from './lens';
import type { Ask, IScene } from './scene';
import { VIEW_CHOICES, WORDS } from './words';

export class StepTools {
  readonly node = el('div', 'step-tools');
  private readonly _said = new Said();
  private readonly _view: HTMLSelectElement;
  private readonly _pin: HTMLButtonElement;
  private readonly _edit: HTMLButtonElement;
  private readonly _lens: Lens;
  private _form: HTMLElement | null = null;
  private _step: AnyStepRecord;

  constructor(
    private readonly _scene: IScene,
    private readonly _ask: Ask,
    private readonly _place: number,
    step: AnyStepRecord
  ) {
    this._step = step;
    this._view = choice<StepView | ''>(WORDS.viewHint, VIEW_CHOICES, view => {
      void this._setView(view || null);
    });
    this._pin = button(WORDS.pin, 'button', () => {
      void this._setPinned();
    });
    this._pin.title = WORDS.pinHint;
    this._edit = button(WORDS.edit, 'button', () => {
      this._toggleForm();
    });
    this._lens = new Lens(this._ask, this._place, WORDS.lensStep);
    this.update(step);
  }

  /** Whether a form is open, which must not be thrown away. */
  get isBusy(): boolean {
    return this._form !== null;
  }

  /** Show what is laid upon the step now. */
  update(step: AnyStepRecord): void {
    this._step = step;
    const view = step.laid_on?.view ?? '';
    this._view.selectedIndex = VIEW_CHOICES.findIndex(([value]) => value === view);
    this._pin.setAttribute('aria-pressed', String(step.laid_on?.is_pinned === true));
    this._edit.setAttribute('aria-expanded', String(this._form !== null));
    const bar = this.node.firstElementChild ?? this._bar();
    arrange(this.node, [bar, ...(this._form ? [this._form] : []), this._lens.node]);
  }

  private _bar(): HTMLElement {
    return el(
      'div',
      'tools',
      el('label', 'control', WORDS.viewLabel, this._view),
      this._pin,
      this._edit,
      this._lens.button,
      this._said.node
    );
  }

  private async _setView(view: StepView | null): Promise<void> {
    const words = VIEW_CHOICES.find(([value]) => value === (view ?? ''))?.[1] ?? '';
    const request = { verb: 'set_view', place: this._place, view } as const;
    const reply = await asked(this._ask, request, this._said, `${WORDS.viewLabel} ${words}`);
    if (reply) {
      this._scene.store.layOn(this._place, { view });
    } else {
      this.update(this._step);
    }
  }

  private async _setPinned(): Promise<void> {
    const value = this._step.laid_on?.is_pinned !== true;
    const request = { verb: 'set_pinned', place: this._place, value } as const;
    const reply = await asked(this._ask, request, this._said, value ? WORDS.pinned : WORDS.unpinned);
    if (reply) {
      this._scene.store.layOn(this._place, { is_pinned: value });
    }
  }

  private _toggleForm(): void {
    const close = (): void => {
      this._form = null;
      this.update(this._step);
      this._edit.focus();
    };
    if (this._form) {
      close();
      return;
    }
    this._form = stepForm(
      this._step,
      async changes => {
        const request = { verb: 'edit_step', place: this._place, changes } as const;
        const reply = await asked(this._ask, request, this._said, WORDS.saved);
        if (reply) {
          this._scene.store.edit(this._place, changes);
        }
        return reply !== null;
      },
      close
    );
    this.update(this._step);
    this._form.querySelector('textarea')?.focus();
  }
}
