/**
 * One step of the memory on a line, with how the model sees it and whether it is pinned.
 *
 * Opened, it shows its whole title and lets the lens look at its call. It must not know the other steps.
 */
import type { PanelStepRecord, StepView } from '../protocol';
import { asked } from '../steps/asking';
import type { Said } from '../steps/asking';
import { arrange, append, button, choice, el, toggleClass } from '../steps/elements';
import { Lens } from '../steps/lens';
import type { Ask } from '../steps/scene';
import { laidOnLabels } from '../steps/titles';
import { WORDS } from '../steps/words';
import { KINDS, PANEL, SEEN_CHOICES } from './words';

export class StepLine {
  readonly node = el('div', 'step');
  private readonly _toggle = el('button', 'step-line');
  private readonly _row = el('div', 'panel-step', this._toggle);
  private readonly _body = el('div', 'step-body');
  private readonly _view: HTMLSelectElement | null = null;
  private readonly _pin: HTMLButtonElement | null = null;
  private _drawn = '';
  private _step: PanelStepRecord;

  constructor(
    step: PanelStepRecord,
    private readonly _ask: Ask | null,
    private readonly _said: Said
  ) {
    this._step = step;
    this.node.setAttribute('role', 'listitem');
    this._toggle.type = 'button';
    this._toggle.addEventListener('click', () => {
      this._setOpen(this._toggle.getAttribute('aria-expanded') !== 'true');
    });
    if (this._ask) {
      const ask = this._ask;
      this._view = choice<StepView | ''>(WORDS.viewHint, SEEN_CHOICES, view => {
        void this._setView(ask, view || null);
      });
      this._pin = button(PANEL.pin, 'button', () => {
        void this._setPinned(ask);
      });
      this._pin.title = WORDS.pinHint;
      append(this._row, this._view, this._pin);
    }
    this.node.append(this._row);
    this._setOpen(false);
    this.update(step);
  }

  /** Show what is there now; the same again costs nothing. */
  update(step: PanelStepRecord): void {
    this._step = step;
    const { view = '', is_pinned = false } = step.laid_on ?? {};
    if (this._view) {
      this._view.selectedIndex = SEEN_CHOICES.findIndex(([value]) => value === view);
    }
    this._pin?.setAttribute('aria-pressed', String(is_pinned));
    const drawn = JSON.stringify(step);
    if (drawn === this._drawn) {
      return;
    }
    this._drawn = drawn;
    const name = [KINDS[step.kind], step.kind === 'action' ? step.step_number : ''].join(' ').trim();
    this._view?.setAttribute('aria-label', `${WORDS.viewLabel}: ${name}`);
    this._pin?.setAttribute('aria-label', `${PANEL.pin}: ${name}`);
    const { view: _view, is_pinned: _isPinned, ...rest } = step.laid_on ?? {};
    const labels = laidOnLabels(this._ask ? rest : step.laid_on); // what the controls say is not said again
    toggleClass(this.node, 'is-hidden', step.laid_on?.view === 'hidden');
    this._toggle.replaceChildren();
    append(
      this._toggle,
      el('span', 'number', step.kind === 'action' ? String(step.step_number ?? '') : ''),
      step.kind !== 'action' && step.kind !== 'plan' && el('span', 'role', KINDS[step.kind]),
      el('span', titleClasses(step), step.title),
      labels.length > 0 && el('span', 'labels', labels.join(' · '))
    );
    if (this._toggle.getAttribute('aria-expanded') === 'true') {
      this._fill();
    }
  }

  private _setOpen(isOpen: boolean): void {
    this._toggle.setAttribute('aria-expanded', String(isOpen));
    this._body.replaceChildren();
    arrange(this.node, isOpen ? [this._row, this._body] : [this._row]);
    if (isOpen) {
      this._fill();
    }
  }

  private _fill(): void {
    const words = el('div', 'prose', this._step.title);
    const labels = laidOnLabels(this._step.laid_on);
    append(words, labels.length > 0 && el('div', 'fine', labels.join(' · ')));
    if (this._body.firstChild) {
      this._body.firstChild.replaceWith(words);
      return;
    }
    this._body.append(words);
    if (this._ask && (this._step.kind === 'action' || this._step.kind === 'plan')) {
      const lens = new Lens(this._ask, this._step.place, WORDS.lensStep);
      append(this._body, el('div', 'step-tools', el('div', 'tools', lens.button), lens.node));
    }
  }

  private async _setView(ask: Ask, view: StepView | null): Promise<void> {
    const words = SEEN_CHOICES.find(([value]) => value === (view ?? ''))?.[1] ?? '';
    const request = { verb: 'set_view', place: this._step.place, view } as const;
    if (!(await asked(ask, request, this._said, `${WORDS.viewLabel} ${words}`))) {
      this.update(this._step); // back to what holds
    }
  }

  private async _setPinned(ask: Ask): Promise<void> {
    const value = this._step.laid_on?.is_pinned !== true;
    const request = { verb: 'set_pinned', place: this._step.place, value } as const;
    await asked(ask, request, this._said, value ? WORDS.pinned : WORDS.unpinned);
  }
}

function titleClasses(step: PanelStepRecord): string {
  const isCode = step.kind === 'action' ? ' is-code' : '';
  return step.is_error ? `title${isCode} fault` : `title${isCode}`;
}
