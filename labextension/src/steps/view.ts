/**
 * Mounts a run into an element of the page and keeps it as the store says.
 *
 * It puts the parts together and decides when they are drawn; each part draws itself. It must not know
 * which front end it is in.
 */
import type { AskedRecord } from '../protocol';
import { ApprovalCard } from './approval';
import { Said } from './asking';
import { Controls } from './controls';
import { block } from './block';
import { arrange, button, el, keepShortcutsOff, say } from './elements';
import { endingNodes } from './ending';
import { counted } from './figures';
import { Header } from './header';
import { VirtualList } from './list';
import { NowRow } from './now';
import { Progress } from './progress';
import { StepRows } from './rows';
import type { Ask, IScene } from './scene';
import { Frames } from './schedule';
import type { Change, RunStore } from './store';
import { oneLine } from './text';
import { LOST, WORDS } from './words';

export type { Ask } from './scene';

export interface IMounted {
  /** Take the view out of the page; whoever mounted it calls this. */
  dispose(): void;
}

const STEPS_KEY = 'steps';
const TICK_MS = 1_000;
/** A snapshot that fills a gap comes within this time, mostly. */
const MISSED_MS = 4_000;

/**
 * Draw a run into `element`.
 *
 * @param ask - Sends requests to the kernel; null: a run without controls.
 * @param options - `step`: show the step of this number only.
 */
export function mountRun(
  element: HTMLElement,
  store: RunStore,
  ask: Ask | null,
  options: { step?: number } = {}
): IMounted {
  return new RunView(element, store, ask, options.step);
}

/** Say in a plain line that a run cannot be drawn, and what to do; below it the run as `text`, if there is one. */
export function mountLine(element: HTMLElement, words: string, text = ''): IMounted {
  const node = el('div', 'run', el('div', 'notice', words), ...(text ? [block(text)] : []));
  element.append(node);
  return {
    dispose: () => {
      node.remove();
    }
  };
}

class RunView implements IMounted, IScene {
  private readonly _node = el('div', 'run');
  private readonly _frames = new Frames(() => {
    this._drawSafely();
  });
  /** Of one step only: neither task nor answer, nor the agent's controls. */
  private readonly _isBrief: boolean;
  private readonly _header: Header;
  private readonly _progress: Progress;
  private readonly _controls: Controls | null;
  private readonly _rows: StepRows;
  private readonly _list: VirtualList;
  private readonly _said = new Said();
  private readonly _missed = el('div', 'notice');
  private readonly _newer = el('div', 'notice', WORDS.newer);
  private readonly _gone = el('div', 'notice', WORDS.gone);
  private readonly _unsubscribe: () => void;
  private _now: NowRow | null = null;
  private _card: ApprovalCard | null = null;
  private _ending: HTMLElement[] = [];
  private _hasNewSteps = true;
  private _hasNewHead = true;
  private _ticker = 0;
  private _toggle: HTMLElement | null = null;

  constructor(
    element: HTMLElement,
    readonly store: RunStore,
    readonly ask: Ask | null,
    step: number | undefined
  ) {
    this._isBrief = (step ?? store.run.step) !== null;
    this._header = new Header(this, this._isBrief);
    this._progress = new Progress(this, this._said);
    this._controls = ask ? new Controls(this, ask, this._said) : null;
    this._rows = new StepRows(this, step);
    this._list = new VirtualList(
      this._rows,
      () => {
        this.redraw();
      },
      WORDS.steps
    );
    keepShortcutsOff(this._node);
    this._unsubscribe = store.subscribe(change => {
      this._onChange(change);
    });
    if (store.isRunning) {
      this._list.follow();
    }
    element.append(this._node);
    this._drawSafely();
  }

  redraw(): void {
    this._frames.ask();
  }

  dispose(): void {
    this._unsubscribe();
    this._frames.dispose();
    this._list.dispose();
    clearInterval(this._ticker);
    this._node.remove();
  }

  private _onChange(change: Change): void {
    this._hasNewSteps ||= change.kind === 'step' || change.kind === 'all';
    this._hasNewHead ||= change.kind === 'head' || change.kind === 'end' || change.kind === 'all';
    if (change.kind === 'end') {
      this._frames.flush();
    } else {
      this._frames.ask();
    }
  }

  /** A fault of ours must not leave a blank, nor stop what comes later. */
  private _drawSafely(): void {
    try {
      this._draw();
    } catch (error) {
      const what = error instanceof Error ? oneLine(error.message, 200) : '';
      this._node.replaceChildren(el('div', 'notice', `${WORDS.cannotDraw} (${what})`));
    }
  }

  private _draw(): void {
    const { store } = this;
    const { now, head, settings } = store.run;
    this._header.update();
    if (this._hasNewSteps) {
      this._rows.update();
      this._hasNewSteps = false;
    }
    if (this._hasNewHead) {
      this._ending = this._isBrief || store.isRunning ? [] : endingNodes(head);
      this._hasNewHead = false;
    }
    const showsNow = now !== null && !this._isBrief;
    this._now = showsNow ? (this._now ?? new NowRow(this)) : null;
    if (now) {
      this._now?.update(now);
    }
    this._updateCard(this._now ? now?.asked : undefined);
    this._progress.update();
    this._controls?.update();
    const parts = [
      ...this._notices(),
      this._header.node,
      ...(store.isRunning && !this._isBrief ? [this._progress.node] : []),
      ...(this._controls && settings && !this._isBrief ? [this._controls.node] : []),
      ...(head.is_quiet && !this._isBrief && this._rows.length ? [this._quiet()] : []),
      ...((this._rows.length || this._now) && this._showsSteps ? [this._list.node] : []),
      ...(this._card ? [this._card.node] : []),
      ...this._ending
    ];
    arrange(this._node, parts);
    if (this._showsSteps) {
      this._list.update(this._now?.node ?? null);
    }
    this._tick();
  }

  private get _showsSteps(): boolean {
    return this._isBrief || !this.store.run.head.is_quiet || this.store.isOpen(STEPS_KEY);
  }

  /** The way to the steps of a run that a person wanted quiet. */
  private _quiet(): HTMLElement {
    this._toggle ??= button('', 'button is-quiet', () => {
      this.store.setOpen(STEPS_KEY, !this._showsSteps);
      this.redraw();
    });
    const words = this._showsSteps ? WORDS.hideSteps : WORDS.showSteps;
    say(this._toggle, `${words} (${this._rows.length})`);
    this._toggle.setAttribute('aria-expanded', String(this._showsSteps));
    return this._toggle;
  }

  /** Below the steps, and not in their box: it must be in sight wherever that is scrolled to. */
  private _updateCard(question: AskedRecord | undefined): void {
    if (!question) {
      this._card = null;
    } else if (this._card?.isOf(question)) {
      this._card.update(question);
    } else {
      this._card = new ApprovalCard(this, question);
    }
  }

  private _notices(): HTMLElement[] {
    const { nMissed, missedAtMs, isNewer, isGone, head } = this.store.run;
    const isLost = nMissed > 0 && (!this.store.isRunning || 1000 * this.store.sinceS(missedAtMs) > MISSED_MS);
    this._missed.textContent = isLost ? `${counted(nMissed, 'message')} ${WORDS.missed}` : '';
    return [
      // Of a run that was lost with its kernel its end says so.
      ...(isGone && head.error !== LOST ? [this._gone] : []),
      ...(isNewer ? [this._newer] : []),
      ...(isLost ? [this._missed] : [])
    ];
  }

  /** Let the time go on while the run does. */
  private _tick(): void {
    if (!this.store.isRunning) {
      clearInterval(this._ticker);
      this._ticker = 0;
    } else if (!this._ticker) {
      this._ticker = window.setInterval(() => {
        this._header.tick();
        this._progress.tick();
        this._now?.tick();
        if (this.store.run.nMissed) {
          this.redraw();
        }
      }, TICK_MS);
    }
  }
}
