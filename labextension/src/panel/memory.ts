/**
 * The memory of an agent as a tree: runs, and in each its steps. It must not know what a step's line does.
 */
import type { AgentSnapshot, PanelRunRecord, PanelStepRecord } from '../protocol';
import { Said } from '../steps/asking';
import { arrange, append, button, el, toggleClass } from '../steps/elements';
import { counted } from '../steps/figures';
import type { Ask } from '../steps/scene';
import { WORDS } from '../steps/words';
import { StepLine } from './stepLine';
import { LAST_STATUS, PANEL } from './words';

/** Of a long run the newest are shown first; a button shows all. */
const SHOWN_STEPS = 40;
const COLOURS: { [status: string]: string } = {
  running: 'is-blue',
  answered: 'is-green',
  failed: 'is-red',
  interrupted: 'is-amber',
  max_steps: 'is-amber',
  budget: 'is-amber'
};

export class Memory {
  readonly node = el('div', '');
  private readonly _said = new Said();
  private readonly _older = el('div', 'gap');
  private _runs = new Map<number, RunBranch>();

  constructor(private readonly _ask: Ask | null) {}

  /** What stands beside the heading: how much there is, and how much of it the model is not told whole. */
  static about(agent: AgentSnapshot): string {
    const steps = agent.runs.flatMap(run => run.steps);
    const nHidden = steps.filter(step => step.laid_on?.view === 'hidden').length;
    const nShort = steps.filter(step => step.laid_on?.form && step.laid_on.view !== 'hidden').length;
    return [
      counted(agent.agent.n_runs, 'run'),
      counted(agent.agent.n_steps, 'step'),
      nHidden > 0 ? `${nHidden} hidden` : '',
      nShort > 0 ? `${nShort} sent shortened` : ''
    ]
      .filter(Boolean)
      .join(' · ');
  }

  update(agent: AgentSnapshot): void {
    const before = this._runs;
    this._runs = new Map();
    agent.runs.forEach((run, i) => {
      const place = run.steps[0]?.place ?? -1;
      const branch = before.get(place) ?? new RunBranch(this._ask, this._said, i === agent.runs.length - 1);
      branch.update(run);
      this._runs.set(place, branch);
    });
    this._older.textContent = `… ${counted(agent.steps_left_out, 'older step')} not shown here …`;
    arrange(this.node, [
      ...(agent.runs.length ? [] : [el('div', 'fine', PANEL.noMemory)]),
      ...(agent.steps_left_out ? [this._older] : []),
      ...[...this._runs.values()].map(branch => branch.node),
      this._said.node
    ]);
  }
}

class RunBranch {
  readonly node = el('div', 'fold');
  private readonly _toggle = el('button', 'fold-line panel-run');
  private readonly _list = el('div', 'panel-list');
  private readonly _all: HTMLButtonElement;
  private _lines = new Map<number, StepLine>();
  private _run: PanelRunRecord | null = null;
  private _line = '';
  private _showsAll = false;

  constructor(
    private readonly _ask: Ask | null,
    private readonly _said: Said,
    isOpen: boolean
  ) {
    this._toggle.type = 'button';
    this._list.setAttribute('role', 'list');
    this._all = button('', 'button is-quiet', () => {
      this._showsAll = true;
      this._draw();
    });
    this._toggle.addEventListener('click', () => {
      this._setOpen(!this._isOpen);
      this._draw();
    });
    this._setOpen(isOpen);
  }

  update(run: PanelRunRecord): void {
    this._run = run;
    this._draw();
  }

  private get _isOpen(): boolean {
    return this._toggle.getAttribute('aria-expanded') === 'true';
  }

  private _setOpen(isOpen: boolean): void {
    this._toggle.setAttribute('aria-expanded', String(isOpen));
    toggleClass(this.node, 'is-open', isOpen);
  }

  private _draw(): void {
    const run = this._run;
    if (!run) {
      return;
    }
    this._drawLine(run);
    if (!this._isOpen) {
      this._lines.clear();
      arrange(this.node, [this._toggle]);
      return;
    }
    const nBefore = this._showsAll ? 0 : Math.max(run.steps.length - SHOWN_STEPS, 0);
    const before = this._lines;
    this._lines = new Map();
    for (const step of run.steps.slice(nBefore)) {
      const line = before.get(step.place) ?? new StepLine(step, this._ask, this._said);
      line.update(step);
      this._lines.set(step.place, line);
    }
    this._all.textContent = `${WORDS.showAll} (${counted(nBefore, 'older step')})`;
    arrange(this._list, [...(nBefore ? [this._all] : []), ...[...this._lines.values()].map(line => line.node)]);
    arrange(this.node, [this._toggle, this._list]);
  }

  private _drawLine(run: PanelRunRecord): void {
    const task = run.steps.find((step): step is PanelStepRecord => step.kind === 'task')?.title ?? run.task;
    const figures = counted(run.steps.filter(step => step.kind === 'action').length, 'step');
    const line = JSON.stringify([task, run.status, figures]);
    if (line === this._line) {
      return;
    }
    this._line = line;
    this._toggle.replaceChildren();
    append(
      this._toggle,
      el('span', 'title', task),
      run.status && el('span', `chip ${COLOURS[run.status] ?? 'is-grey'}`, LAST_STATUS[run.status]),
      el('span', 'figures', figures)
    );
  }
}
