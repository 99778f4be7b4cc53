/**
 * The settings of the agent that can be turned while it runs: summary mode, replanning, the next call.
 *
 * Each says from when on it holds. It must not keep a setting: what the kernel says is shown.
 */
import type { RequestBody, SettingsRecord, SummaryMode } from '../protocol';
import { asked } from './asking';
import type { Said } from './asking';
import { append, button, choice, el, say } from './elements';
import { Lens } from './lens';
import type { Ask, IScene } from './scene';
import { MODE_CHOICES, WORDS } from './words';

const FIRST_INTERVAL = 3;
const MOST_INTERVAL = 10_000;

export class Controls {
  readonly node = el('div', 'controls');
  private readonly _mode: HTMLSelectElement;
  private readonly _planning = el('input', 'check');
  private readonly _interval = el('input', 'interval');
  private readonly _replan: HTMLButtonElement;
  private readonly _modePending = el('span', 'pending');
  private readonly _planPending = el('span', 'pending');

  constructor(
    private readonly _scene: IScene,
    private readonly _ask: Ask,
    private readonly _said: Said
  ) {
    this._mode = choice<SummaryMode>(WORDS.summaryModeHint, MODE_CHOICES, value => {
      const words = MODE_CHOICES.find(([mode]) => mode === value)?.[1] ?? value;
      void this._set({ verb: 'set', name: 'summary_mode', value }, `${WORDS.summaryMode} ${words}`, {
        summary_mode: value
      });
    });
    this._planning.type = 'checkbox';
    this._planning.addEventListener('change', () => {
      this._setInterval(this._planning.checked ? this._chosenInterval() : null);
    });
    this._interval.type = 'number';
    this._interval.min = '1';
    this._interval.max = String(MOST_INTERVAL);
    this._interval.value = String(FIRST_INTERVAL);
    this._interval.setAttribute('aria-label', WORDS.replanningEvery);
    this._interval.addEventListener('change', () => {
      if (this._planning.checked) {
        this._setInterval(this._chosenInterval());
      }
    });
    this._replan = button(WORDS.replanNow, 'button', () => {
      void asked(this._ask, { verb: 'replan_now' }, this._said, WORDS.replanNow);
    });
    const lens = new Lens(this._ask, null, WORDS.lensNext);
    const bar = el(
      'div',
      'tools',
      el('label', 'control', WORDS.summaryMode, this._mode),
      this._modePending,
      el(
        'span',
        'control',
        el('label', 'control', this._planning, WORDS.replanning),
        el('label', 'control', WORDS.planEvery, this._interval, WORDS.planSteps)
      ),
      this._planPending,
      this._replan,
      lens.button,
      this._said.node
    );
    append(this.node, bar, lens.node);
  }

  update(): void {
    const { settings } = this._scene.store.run;
    this._replan.hidden = !this._scene.store.isRunning;
    if (!settings) {
      return;
    }
    const { summary_mode, planning_interval, pending } = settings;
    this._mode.selectedIndex = MODE_CHOICES.findIndex(([mode]) => mode === summary_mode);
    this._planning.checked = planning_interval !== null;
    if (planning_interval !== null && document.activeElement !== this._interval) {
      this._interval.value = String(planning_interval);
    }
    say(this._modePending, pending.summary_mode ?? '');
    say(this._planPending, pending.planning_interval ?? pending.replan_now ?? '');
    this._modePending.hidden = pending.summary_mode === undefined;
    this._planPending.hidden = !this._planPending.textContent;
  }

  private _chosenInterval(): number {
    const given = Math.round(Number(this._interval.value));
    const interval = given >= 1 && given <= MOST_INTERVAL ? given : FIRST_INTERVAL;
    this._interval.value = String(interval);
    return interval;
  }

  private _setInterval(value: number | null): void {
    const what = value === null ? `${WORDS.replanning} off` : `${WORDS.replanning} every ${value} steps`;
    void this._set({ verb: 'set', name: 'planning_interval', value }, what, { planning_interval: value });
  }

  private async _set(request: RequestBody, what: string, changes: Partial<SettingsRecord>): Promise<void> {
    const reply = await asked(this._ask, request, this._said, what);
    if (reply) {
      this._scene.store.set(changes);
    } else {
      this.update(); // back to what holds
    }
  }
}
