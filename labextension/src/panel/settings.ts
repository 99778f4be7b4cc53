/**
 * The settings of an agent as controls, and what can be asked of it as a whole.
 *
 * Each says from when on it holds. It must not keep a setting: what the kernel says is shown.
 */
import type { AgentSnapshot, Approve, RequestBody, SummaryMode } from '../protocol';
import { asked, Said } from '../steps/asking';
import { append, button, choice, el, say } from '../steps/elements';
import { Lens } from '../steps/lens';
import { showWhole, wholeField, wholeOf } from '../steps/numberField';
import type { Ask } from '../steps/scene';
import { APPROVE_CHOICES, MODE_CHOICES, WORDS } from '../steps/words';
import { PANEL } from './words';

const FIRST_INTERVAL = 3;

export class Settings {
  readonly node = el('div', '');
  private readonly _said = new Said();
  private readonly _mode: HTMLSelectElement;
  private readonly _approve: HTMLSelectElement;
  private readonly _planning = el('input', 'check');
  private readonly _interval: HTMLInputElement;
  private readonly _maxSteps: HTMLInputElement;
  private readonly _pending = new Map<string, HTMLElement>();
  private readonly _stop: HTMLButtonElement;
  private readonly _pause: HTMLButtonElement;
  private readonly _replan: HTMLButtonElement;
  private _agent: AgentSnapshot | null = null;

  constructor(private readonly _ask: Ask) {
    this._mode = choice<SummaryMode>(PANEL.modeHint, MODE_CHOICES, value => {
      const words = MODE_CHOICES.find(([mode]) => mode === value)?.[1] ?? value;
      this._send({ verb: 'set', name: 'summary_mode', value }, `${WORDS.summaryMode} ${words}`);
    });
    this._approve = choice<Approve>(WORDS.approveHint, APPROVE_CHOICES, value => {
      const words = APPROVE_CHOICES.find(([policy]) => policy === value)?.[1] ?? value;
      this._send({ verb: 'set', name: 'approve', value }, `${WORDS.approveBefore} ${words}`);
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
    this._maxSteps = wholeField(WORDS.maxSteps, WORDS.maxStepsHint, () => {
      const value = wholeOf(this._maxSteps, this._agent?.settings.max_steps ?? 1);
      this._send({ verb: 'set', name: 'max_steps', value }, `${WORDS.maxSteps} ${value}`);
    });
    this._stop = button(WORDS.stop, 'button is-stop', () => {
      this._send({ verb: 'stop' }, WORDS.stop);
    });
    this._stop.title = WORDS.stopHint;
    this._pause = button(WORDS.pause, 'button', () => {
      const isPaused = this._agent?.settings.is_paused === true;
      this._send({ verb: isPaused ? 'go_on' : 'pause' }, isPaused ? WORDS.goOn : WORDS.pause);
    });
    this._replan = button(WORDS.replanNow, 'button', () => {
      this._send({ verb: 'replan_now' }, WORDS.replanNow);
    });
    const undo = button(WORDS.undo, 'button', () => {
      this._send({ verb: 'undo' }, WORDS.undo);
    });
    undo.title = WORDS.undoHint;
    const lens = new Lens(this._ask, null, WORDS.lensNext);
    append(
      this.node,
      el(
        'div',
        'panel-settings',
        this._setting('summary_mode', el('label', 'control', WORDS.summaryMode, this._mode)),
        this._setting(
          'planning_interval',
          el('label', 'control', this._planning, WORDS.replanning),
          el('label', 'control', WORDS.planEvery, this._interval, WORDS.planSteps)
        ),
        this._setting('max_steps', el('label', 'control', WORDS.maxSteps, this._maxSteps)),
        this._setting('approve', el('label', 'control', WORDS.approveBefore, this._approve))
      ),
      el('div', 'tools', this._stop, this._pause, this._replan, lens.button, undo, this._said.node),
      lens.node
    );
  }

  update(agent: AgentSnapshot): void {
    this._agent = agent;
    const { settings, is_running } = agent;
    this._mode.selectedIndex = MODE_CHOICES.findIndex(([mode]) => mode === settings.summary_mode);
    this._approve.selectedIndex = APPROVE_CHOICES.findIndex(([policy]) => policy === settings.approve);
    this._planning.checked = settings.planning_interval !== null;
    showWhole(this._interval, settings.planning_interval);
    showWhole(this._maxSteps, settings.max_steps);
    this._stop.hidden = this._replan.hidden = !is_running;
    this._pause.hidden = !is_running && !settings.is_paused;
    say(this._pause, settings.is_paused ? WORDS.goOn : WORDS.pause);
    for (const [name, node] of this._pending) {
      say(node, settings.pending[name] ?? '');
      node.hidden = settings.pending[name] === undefined;
    }
  }

  private _setting(name: string, ...controls: HTMLElement[]): HTMLElement {
    const pending = el('span', 'pending');
    pending.hidden = true;
    this._pending.set(name, pending);
    return el('span', 'control', ...controls, pending);
  }

  private _setInterval(value: number | null): void {
    const what = value === null ? `${WORDS.replanning} off` : `${WORDS.replanning} every ${value} steps`;
    this._send({ verb: 'set', name: 'planning_interval', value }, what);
  }

  private _send(request: RequestBody, what: string): void {
    void asked(this._ask, request, this._said, what).then(reply => {
      if (!reply && this._agent) {
        this.update(this._agent); // back to what holds
      }
    });
  }
}
