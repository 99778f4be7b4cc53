/**
 * The head of a run: agent, status, model and why, figures, warnings, the task.
 *
 * Texts change in place. It must not say what happens now, nor hold controls: `progress` and
 * `controls` do.
 */
import type { RunHead } from '../protocol';
import { block, label } from './block';
import { append, arrange, el, named, say } from './elements';
import { cost, counted, inSeconds, ticking, tokens } from './figures';
import { fold } from './fold';
import type { IScene } from './scene';
import { sayStatus } from './status';
import { oneLine } from './text';
import { laidOnLabels } from './titles';
import { wordTable } from './values';
import { VERIFIED, WORDS } from './words';

const TASK_CHARS = 160;
const MOST_WARNINGS = 10;

export class Header {
  readonly node = el('div', 'head');
  private readonly _agent = el('span', 'agent');
  private readonly _mode = el('span', 'chip is-grey');
  private readonly _status = el('span', 'chip');
  private readonly _verified = el('span', 'chip');
  private readonly _model = el('span', 'model');
  private readonly _figures = el('div', 'fine');
  private _drawn: RunHead | null = null;
  private _warnings: HTMLElement[] = [];
  private _task: HTMLElement | null = null;

  /** `isBrief` leaves the task. */
  constructor(
    private readonly _scene: IScene,
    private readonly _isBrief: boolean
  ) {
    this._mode.title = WORDS.modeHint;
  }

  update(): void {
    const { head } = this._scene.store.run;
    if (head !== this._drawn) {
      this._draw(head, this._drawn);
      this._drawn = head;
    }
    this.tick();
  }

  /** Show the time as it is now. */
  tick(): void {
    say(this._figures, runFigures(this._scene));
  }

  private _draw(head: RunHead, before: RunHead | null): void {
    say(this._agent, oneLine(head.agent, 80));
    say(this._model, modelWords(head));
    sayStatus(this._status, head);
    const verified = head.status === 'answered' ? (head.verified ?? 'unchecked') : head.verified;
    say(this._verified, verified ? VERIFIED[verified] : '');
    this._verified.className = named(
      `chip ${verified === 'yes' ? 'is-green' : verified === 'no' ? 'is-amber' : 'is-grey'}`
    );
    if (!before || JSON.stringify(before.warnings) !== JSON.stringify(head.warnings)) {
      this._warnings = head.warnings
        .slice(0, MOST_WARNINGS)
        .map(text => el('div', 'warning', `⚠ ${text}`));
    }
    if (!this._isBrief && (!before || before.task !== head.task)) {
      this._task = taskNode(this._scene, head);
    }
    const chips = verified ? [this._status, this._verified] : [this._status];
    say(this._mode, oneLine(head.mode, 20));
    const mode = head.mode === '' || head.mode === 'tools' ? [] : [this._mode];
    const first = this.node.firstElementChild ?? el('div', 'head-line');
    arrange(first as HTMLElement, [this._agent, ...mode, ...chips, this._model]);
    arrange(this.node, [first, this._figures, ...this._warnings, ...(this._task ? [this._task] : [])]);
  }
}

/** The model and why it was chosen; a reason that names it says both. */
function modelWords(head: RunHead): string {
  const words = !head.why ? head.model : head.why.startsWith(head.model) ? head.why : `${head.model} · ${head.why}`;
  return oneLine(words, 300);
}

/** Steps, tokens, cost and time. */
function runFigures(scene: IScene): string {
  const { head, now } = scene.store.run;
  const durationS = head.duration_s + scene.store.sinceS();
  if (head.status === 'running') {
    const step = `step ${now ? now.step_number : head.n_steps + 1} of ${head.max_steps}`;
    const used = head.n_steps ? [tokens(head.usage), cost(head.usage.cost_usd)] : [];
    return [step, ...used, ticking(durationS)].join(' · ');
  }
  const steps = `${madeWords(scene)} of ${head.max_steps}`;
  return [steps, tokens(head.usage), cost(head.usage.cost_usd), inSeconds(head.duration_s)].join(' · ');
}

/** `4 steps`; of a run that went on with another, whose steps count on, `steps 7–9`. */
function madeWords(scene: IScene): string {
  const { head, steps } = scene.store.run;
  const made = steps.filter(step => step && !('plan' in step));
  const first = made[0];
  const last = made.at(-1);
  if (!first || !last || first.step_number <= 1) {
    return counted(head.n_steps, 'step');
  }
  return first === last ? `step ${first.step_number}` : `steps ${first.step_number}–${last.step_number}`;
}

function taskNode(scene: IScene, head: RunHead): HTMLElement {
  const title = [el('span', 'label', WORDS.task), oneLine(head.task, TASK_CHARS)];
  const labels = [
    ...(head.resumed_from ? [`goes on with ${oneLine(head.resumed_from, 80)}`] : []),
    ...laidOnLabels(head.task_laid_on)
  ];
  if (labels.length) {
    title.push(el('span', 'labels', labels.join(' · ')));
  }
  const isShort = head.task.length <= TASK_CHARS && !head.task.includes('\n');
  if (isShort && !head.variables.length && !head.images.length) {
    return el('div', 'task', ...title);
  }
  return fold(scene, {
    key: 'task',
    classes: 'task',
    title,
    fill: body => {
      append(body, block(head.task));
      if (head.variables.length || head.images.length) {
        append(body, label(WORDS.variables), wordTable(variables(head)));
      }
    }
  });
}

function variables(head: RunHead): [string, string][] {
  return [
    ...head.variables.map(({ name, description }): [string, string] => [`@${name}`, description]),
    ...head.images.map((name): [string, string] => [name, WORDS.image])
  ];
}
