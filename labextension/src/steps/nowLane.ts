/**
 * The runs that managed agents make for the calls of a step: a lane each, with its steps as they come, and
 * what happens in it.
 *
 * What is in the page stays: a long run costs what is new in it. It must not know the run around it.
 */
import type { AnyStepRecord, CallRecord } from '../protocol';
import { doingWords, waitWords } from './doing';
import { append, arrange, button, el, say, toggleClass } from './elements';
import { counted, inSeconds, ticking, tokensTogether } from './figures';
import { agentNode, laneStep, stepList } from './lane';
import { NowRow } from './now';
import type { IScene } from './scene';
import { sayStatus } from './status';
import type { RunStore } from './store';
import { WORDS } from './words';

/** So many of the newest steps stand in the page, unless a person wants all. */
const NEWEST_STEPS = 12;
const OPEN_KEY = 'lane';

/** The lanes of one step, by the ids of their calls. */
export class Lanes {
  private readonly _lanes = new Map<string, NowLane>();

  constructor(private readonly _scene: IScene) {}

  /** The lane under a call; null if no managed agent makes a run for it. */
  nodeOf(call: CallRecord): HTMLElement | null {
    const store = this._scene.store.laneOf(call.id);
    if (!store) {
      return null;
    }
    let lane = this._lanes.get(call.id);
    if (lane?.store !== store) {
      lane = new NowLane(this._scene, store);
      this._lanes.set(call.id, lane);
    }
    lane.update();
    return lane.node;
  }

  /** Let the time go on. */
  tick(): void {
    this._lanes.forEach(lane => {
      lane.tick();
    });
  }

  clear(): void {
    this._lanes.clear();
  }
}

/** One lane; a scene of its own, in which nothing is asked of the kernel. */
class NowLane implements IScene {
  readonly node = el('div', 'fold lane');
  readonly ask = null;
  private readonly _toggle = el('button', 'fold-line');
  private readonly _chip = el('span', 'chip');
  private readonly _doing = el('span', 'doing');
  private readonly _figures = el('span', 'fine');
  private readonly _body = el('div', 'fold-body');
  private readonly _earlier: HTMLButtonElement;
  private _steps: HTMLElement | null = null;
  private _agent: HTMLElement | null = null;
  private _now: NowRow | null = null;
  private _rows = new Map<number, { node: HTMLElement; step: AnyStepRecord }>();
  private _showsAll = false;

  constructor(
    private readonly _around: IScene,
    readonly store: RunStore
  ) {
    this._toggle.type = 'button';
    this._toggle.addEventListener('click', () => {
      this.store.setOpen(OPEN_KEY, !this._isOpen);
      this.update();
    });
    this._earlier = button('', 'button is-quiet', () => {
      this._showsAll = true;
      this.redraw();
    });
    append(this.node, this._toggle, this._body);
  }

  redraw(): void {
    this._around.redraw();
  }

  /** Show the run as it stands. */
  update(): void {
    const { head, now } = this.store.run;
    this._agent ??= agentNode(head.agent);
    sayStatus(this._chip, head);
    toggleClass(this.node, 'is-running', this.store.isRunning);
    toggleClass(this.node, 'is-open', this._isOpen);
    this._toggle.setAttribute('aria-expanded', String(this._isOpen));
    arrange(this._toggle, [this._agent, this._chip, ...(now ? [this._doing] : []), this._figures]);
    this.tick();
    if (!this._isOpen) {
      this._body.remove();
      return;
    }
    this._drawSteps();
    append(this.node, this._body);
  }

  /** Show the time as it is now. */
  tick(): void {
    const { head, now } = this.store.run;
    const used = tokensTogether(head.usage);
    const steps = this.store.isRunning
      ? `step ${now ? now.step_number : head.n_steps + 1} of ${head.max_steps}`
      : counted(head.n_steps, 'step');
    const took = this.store.isRunning ? ticking(head.duration_s + this.store.sinceS()) : inSeconds(head.duration_s);
    say(this._figures, [steps, used, took].filter(Boolean).join(' · '));
    const left = waitWords(this.store);
    say(this._doing, now ? [doingWords(now), left].filter(Boolean).join(' ') : '');
    this._now?.tick();
  }

  private get _isOpen(): boolean {
    return this.store.isOpen(OPEN_KEY, true);
  }

  private _drawSteps(): void {
    const { now, steps } = this.store.run;
    this._steps ??= stepList();
    const first = this._showsAll ? 0 : Math.max(steps.length - NEWEST_STEPS, 0);
    say(this._earlier, `${WORDS.showEarlier} (${counted(first, 'step')})`);
    const before = this._rows;
    this._rows = new Map();
    const nodes: HTMLElement[] = [];
    steps.slice(first).forEach((step, i) => {
      const place = first + i;
      if (step) {
        const known = before.get(place);
        const node = known?.step === step ? known.node : laneStep(this, `step ${place}`, step);
        this._rows.set(place, { node, step });
        nodes.push(node);
      }
    });
    this._now = now ? (this._now ?? new NowRow(this)) : null;
    if (now) {
      this._now?.update(now);
    }
    arrange(this._steps, [...nodes, ...(this._now ? [this._now.node] : [])]);
    arrange(this._body, [...(first ? [this._earlier] : []), this._steps]);
  }
}
