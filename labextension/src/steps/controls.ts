/**
 * The settings of the agent that can be turned while it runs, and what can be asked of it as a whole.
 *
 * Each says from when on it holds. It must not keep a setting: what the kernel says is shown.
 */
import type { Approve, RequestBody, SettingsRecord, SummaryMode } from '../protocol';
import { asked } from './asking';
import type { Said } from './asking';
import { append, arrange, button, choice, el, say } from './elements';
import { Lens } from './lens';
import { showWhole, wholeField, wholeOf } from './numberField';
import type { Ask, IScene } from './scene';
import { APPROVE_CHOICES, MODE_CHOICES, WORDS } from './words';

const FIRST_INTERVAL = 3;

export class Controls {
  readonly node = el('div', 'controls');
  private readonly _mode: HTMLSelectElement;
  private readonly _planning = el('input', 'check');
  private readonly _interval: HTMLInputElement;
  private readonly _replan: HTMLButtonElement;
  private readonly _undo: HTMLButtonElement;
  private readonly _more: HTMLButtonElement;
  private readonly _maxSteps: HTMLInputElement;
  private readonly _approve: HTMLSelectElement;
  private readonly _pending = new Map<string, HTMLElement>();
  /** What is seldom turned, folded away. */
  private readonly _seldom: HTMLElement;
  private readonly _bar: HTMLElement;
  private readonly _lens: Lens;
  private _showsMore = false;

  constructor(
    private readonly _scene: IScene,
    private readonly _ask: Ask,
    private readonly _said: Said
  ) {
    this._mode = choice<SummaryMode>(WORDS.summaryModeHint, MODE_CHOICES, value => {
      this._set({ verb: 'set', name: 'summary_mode', value }, `${WORDS.summaryMode} ${wordsOf(MODE_CHOICES, value)}`, {
        summary_mode: value
      });
    });
    this._planning.type = 'checkbox';
    this._planning.addEventListener('change', () => {
      this._setInterval(this._planning.checked ? wholeOf(this._interval, FIRST_INTERVAL) : null);
    });
    this._interval = wholeField(WORDS.replanningEvery, WORDS.planHint, () => {
      if (this._planning.checked) {
        this._setInterval(wholeOf(this._interval, FIRST_INTERVAL));
      }
    });
    this._interval.value = String(FIRST_INTERVAL);
    this._replan = button(WORDS.replanNow, 'button', () => {
      void asked(this._ask, { verb: 'replan_now' }, this._said, WORDS.replanNow);
    });
    this._undo = button(WORDS.undo, 'button', () => {
      void this._takeBack();
    });
    this._undo.title = WORDS.undoHint;
    this._more = button(WORDS.more, 'button', () => {
      this._showsMore = !this._showsMore;
      this._arrange();
    });
    this._maxSteps = wholeField(WORDS.maxSteps, WORDS.maxStepsHint, () => {
      const value = wholeOf(this._maxSteps, this._scene.store.run.settings?.max_steps ?? 1);
      this._set({ verb: 'set', name: 'max_steps', value }, `${WORDS.maxSteps} ${value}`, { max_steps: value });
    });
    this._approve = choice<Approve>(WORDS.approveHint, APPROVE_CHOICES, value => {
      this._set({ verb: 'set', name: 'approve', value }, `${WORDS.approveBefore} ${wordsOf(APPROVE_CHOICES, value)}`, {
        approve: value
      });
    });
    this._lens = new Lens(this._ask, null, WORDS.lensNext);
    this._seldom = el(
      'div',
      'tools',
      el('label', 'control', WORDS.approveBefore, this._approve),
      this._pendingOf('approve'),
      el('label', 'control', WORDS.maxSteps, this._maxSteps),
      this._pendingOf('max_steps')
    );
    this._bar = el(
      'div',
      'tools',
      el('label', 'control', WORDS.summaryMode, this._mode),
      this._pendingOf('summary_mode'),
      el(
        'span',
        'control',
        el('label', 'control', this._planning, WORDS.replanning),
        el('label', 'control', WORDS.planEvery, this._interval, WORDS.planSteps)
      ),
      this._pendingOf('planning_interval'),
      this._replan,
      this._lens.button,
      this._undo,
      this._more
    );
    append(this._bar, this._said.node);
    this._arrange();
  }

  update(): void {
    const { store } = this._scene;
    const { settings } = store.run;
    this._replan.hidden = !store.isRunning;
    this._undo.hidden = !store.hasChanges;
    if (!settings) {
      return;
    }
    const { summary_mode, planning_interval, max_steps, approve, pending } = settings;
    this._mode.selectedIndex = MODE_CHOICES.findIndex(([mode]) => mode === summary_mode);
    this._approve.selectedIndex = APPROVE_CHOICES.findIndex(([policy]) => policy === approve);
    this._planning.checked = planning_interval !== null;
    showWhole(this._interval, planning_interval);
    showWhole(this._maxSteps, max_steps);
    for (const [name, node] of this._pending) {
      const words = pending[name] ?? (name === 'planning_interval' ? pending.replan_now : undefined);
      say(node, words ?? '');
      node.hidden = words === undefined;
    }
  }

  private _pendingOf(name: string): HTMLElement {
    const node = el('span', 'pending');
    node.hidden = true;
    this._pending.set(name, node);
    return node;
  }

  private _arrange(): void {
    this._more.setAttribute('aria-expanded', String(this._showsMore));
    arrange(this.node, [this._bar, ...(this._showsMore ? [this._seldom] : []), this._lens.node]);
  }

  private _setInterval(value: number | null): void {
    const what = value === null ? `${WORDS.replanning} off` : `${WORDS.replanning} every ${value} steps`;
    this._set({ verb: 'set', name: 'planning_interval', value }, what, { planning_interval: value });
  }

  private _set(request: RequestBody, what: string, changes: Partial<SettingsRecord>): void {
    void asked(this._ask, request, this._said, what).then(reply => {
      if (reply) {
        this._scene.store.set(changes);
      } else {
        this.update(); // back to what holds
      }
    });
  }

  private async _takeBack(): Promise<void> {
    if (await asked(this._ask, { verb: 'undo' }, this._said, WORDS.undo)) {
      this._scene.store.undo();
    }
  }
}

function wordsOf<T extends string>(choices: readonly (readonly [T, string])[], value: T): string {
  return choices.find(([one]) => one === value)?.[1] ?? value;
}
