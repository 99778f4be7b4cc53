/**
 * RunStore: a run as its view shows it, folded from a snapshot and the messages after it.
 *
 * It also keeps what a person opened, by place, so that every view made later has it. It must not
 * know the page: no elements, no timers; who listens decides when to draw.
 */
import { PROTOCOL_VERSION, RECORD_VERSION } from '../protocol';
import type {
  AnyStepRecord,
  LaidOnRecord,
  LaneMessage,
  Message,
  NowRecord,
  RunHead,
  SettingsRecord,
  Snapshot,
  StepChanges,
  TextMessage
} from '../protocol';
import { editedStep } from './editing';
import { continued, grow } from './growing';
import { readHead, readNow, readSettings, readStep, readUsage } from './readers';
import { isObject } from './reading';
import { LOST } from './words';

/** What is different: a step, or one of the other parts; `all` after a snapshot. */
export type Change =
  | { kind: 'all' | 'head' | 'now' | 'text' | 'settings' | 'end' | 'news' }
  | { kind: 'step'; place: number };

/** A run at one moment. The object stays, its fields change. */
export interface RunState {
  head: RunHead;
  /** By place; null where a long run has left them out. */
  steps: (AnyStepRecord | null)[];
  /** With the texts that grow. */
  now: NowRecord | null;
  settings: SettingsRecord | null;
  /** The number of the only step to show. */
  step: number | null;
  /** Messages that never came, until a snapshot has what they told. */
  nMissed: number;
  /** When the first of them was missed, in milliseconds of `clock`. */
  missedAtMs: number;
  /** Something came that only a newer agent_magic understands. */
  isNewer: boolean;
  /** The kernel that told of it is gone. */
  isGone: boolean;
  /** When `head.duration_s` was told, in milliseconds of `clock`. */
  toldAtMs: number;
  /** When `now` was told, likewise. */
  nowAtMs: number;
}

// A place beyond this is no place of a run, and would cost a page its memory.
const MOST_STEPS = 100_000;
/** Messages kept while some are missing, to be folded again onto the snapshot that has those. */
const MOST_KEPT = 5_000;
/** Changes that can be taken back, as the page shows it; the kernel knows them all. */
const MOST_UNDONE = 100;
const MOST_LANES = 200;
/** Of runs inside runs. */
const DEEPEST = 6;

export class RunStore {
  readonly run: RunState;
  /** The number of the last message. */
  n = 0;
  /** Those after the newest gap; null: too many, only a snapshot after all of them helps. */
  private _sinceGap: Message[] | null = [];
  private _gapEnd = 0;
  /** Steps as they were before each change that was asked for here, the newest last. */
  private readonly _changed: { place: number; step: AnyStepRecord }[] = [];
  private readonly _opened = new Map<string, boolean>();
  /** Of the runs that managed agents make for calls of this step, by the ids of these. */
  private readonly _lanes = new Map<string, RunStore>();
  private readonly _listeners = new Set<(change: Change) => void>();

  /** `clock` gives milliseconds, from any begin; `depth` counts the runs around this one. */
  constructor(
    private readonly _clock: () => number = () => performance.now(),
    private readonly _depth = 0
  ) {
    const head = readHead({ status: 'running' }) as RunHead; // an object is always readable
    const at = _clock();
    this.run = {
      head,
      steps: [],
      now: null,
      settings: null,
      step: null,
      nMissed: 0,
      missedAtMs: at,
      isNewer: false,
      isGone: false,
      toldAtMs: at,
      nowAtMs: at
    };
  }

  /** Whether the run goes on. */
  get isRunning(): boolean {
    return this.run.head.status === 'running';
  }

  /** Whether a person changed how steps are seen, or what stands in them. */
  get hasChanges(): boolean {
    return this._changed.length > 0 || this.run.steps.some(isChanged);
  }

  /** Seconds since a moment of the clock; of the run's duration since it was told, while it runs. */
  sinceS(atMs = this.run.toldAtMs): number {
    return this.isRunning ? (this._clock() - atMs) / 1000 : 0;
  }

  /** Start again from a snapshot; steps that it leaves out stay if they are known. */
  reset(snapshot: Snapshot): void {
    const given = isObject(snapshot) ? (snapshot as Partial<Snapshot>) : {};
    const record: { steps?: unknown; now?: unknown } = isObject(given.run) ? given.run : {};
    const head = readHead(record) as RunHead;
    const known = head.run_id === this.run.head.run_id ? this.run.steps : [];
    const steps = placed(Array.isArray(record.steps) ? record.steps : [], head.steps_left_out);
    Object.assign(this.run, {
      head,
      steps: steps.map((step, place) => step ?? known[place] ?? null),
      now: head.status === 'running' ? (readNow(record.now) ?? null) : null,
      settings: readSettings(given.settings) ?? null,
      step: typeof given.step === 'number' ? given.step : null,
      nMissed: 0,
      isNewer: head.version > RECORD_VERSION || isLater(given.v),
      isGone: false,
      toldAtMs: this._clock(),
      nowAtMs: this._clock()
    } satisfies Partial<RunState>);
    this.n = typeof given.n === 'number' ? given.n : 0;
    this._sinceGap = [];
    this._resetLanes();
    this._tell({ kind: 'all' });
  }

  /** The run that a managed agent makes for a call of this step. */
  laneOf(callId: string): RunStore | undefined {
    return this._lanes.get(callId);
  }

  /** Take a newer snapshot of the same run only if it tells something that no message did. */
  offer(snapshot: Snapshot): void {
    const given: unknown = snapshot;
    if (!isObject(given) || typeof given.n !== 'number') {
      return;
    }
    const later = this._sinceGap;
    if (given.n > this.n) {
      this.reset(snapshot);
    } else if (this.run.nMissed && later && given.n >= this._gapEnd) {
      this.reset(snapshot);
      later.forEach(message => {
        this.take(message);
      });
    }
  }

  /** Fold one message in. One that was had before is ignored; what is unknown is said, never thrown. */
  take(message: Message): void {
    const given: unknown = message;
    if (!isObject(given)) {
      return;
    }
    if (given.kind === 'batch' && Array.isArray(given.messages)) {
      (given.messages as Message[]).forEach(one => this.take(one));
      return;
    }
    if (isLater(given.v)) {
      this._sayNewer();
      return;
    }
    if (!Number.isSafeInteger(message.n) || message.n <= this.n) {
      return;
    }
    this._miss(message.n - this.n - 1);
    this.n = message.n;
    if (this.run.nMissed) {
      this._sinceGap?.push(message);
      this._sinceGap = (this._sinceGap?.length ?? MOST_KEPT) < MOST_KEPT ? this._sinceGap : null;
    }
    this._fold(message);
  }

  /** The kernel that told of the run is gone: nothing more will come, and nothing can be asked. */
  lose(): void {
    if (this.run.isGone) {
      return;
    }
    if (this.isRunning) {
      const duration_s = this.run.head.duration_s + this.sinceS();
      this.run.head = { ...this.run.head, status: 'interrupted', duration_s, error: LOST };
    }
    Object.assign(this.run, { now: null, settings: null, isGone: true } satisfies Partial<RunState>);
    this._lanes.clear();
    this._tell({ kind: 'end' });
  }

  /** Hear of every change, until what is returned is called. */
  subscribe(callback: (change: Change) => void): () => void {
    this._listeners.add(callback);
    return () => {
      this._listeners.delete(callback);
    };
  }

  /** Whether a person opened (or closed) a part; `orElse` if they did neither. */
  isOpen(key: string, orElse = false): boolean {
    return this._opened.get(key) ?? orElse;
  }

  setOpen(key: string, isOpen: boolean): void {
    this._opened.set(key, isOpen);
  }

  /** Show what the kernel said it will do, where no message of it comes: the run is over. */
  layOn(place: number, laid: { view?: LaidOnRecord['view'] | null; is_pinned?: boolean }): void {
    const step = this.run.steps[place];
    if (step) {
      this._remember(place, step);
      this.showLaidOn(place, laid);
    }
  }

  /** Show what the kernel says is laid upon a step: no change that was made here. */
  showLaidOn(place: number, laid: { view?: LaidOnRecord['view'] | null; is_pinned?: boolean }): void {
    const step = this.run.steps[place];
    if (!step) {
      return;
    }
    const { view = step.laid_on?.view, is_pinned = step.laid_on?.is_pinned } = laid;
    const { view: _view, is_pinned: _pinned, ...rest } = step.laid_on ?? {};
    const laidOn = { ...rest, ...(view ? { view } : {}), ...(is_pinned ? { is_pinned } : {}) };
    this._put(place, { ...step, laid_on: laidOn });
  }

  /** Likewise of an edit. */
  edit(place: number, changes: StepChanges): void {
    const step = this.run.steps[place];
    if (step) {
      this._remember(place, step);
      this._put(place, editedStep(step, changes));
    }
  }

  /** Likewise of the last change, which was taken back. */
  undo(): void {
    const last = this._changed.pop();
    if (last && !this.isRunning) {
      this._put(last.place, last.step);
    }
    this._tell({ kind: 'settings' });
  }

  /** Likewise of a setting. */
  set(changes: Partial<SettingsRecord>): void {
    if (this.run.settings) {
      this.run.settings = { ...this.run.settings, ...changes };
      this._tell({ kind: 'settings' });
    }
  }

  private _remember(place: number, step: AnyStepRecord): void {
    this._changed.push({ place, step });
    this._changed.splice(0, this._changed.length - MOST_UNDONE);
  }

  private _miss(nMissed: number): void {
    if (nMissed > 0) {
      this._gapEnd = this.n + nMissed;
      this._sinceGap = [];
      this.run.missedAtMs = this.run.nMissed ? this.run.missedAtMs : this._clock();
      this.run.nMissed += nMissed;
      this._tell({ kind: 'news' });
    }
  }

  /** What a snapshot tells of them: it stands at their calls, from where it is taken. */
  private _resetLanes(): void {
    this._lanes.clear();
    for (const call of this.run.now?.calls ?? []) {
      for (const one of [call, ...(call.calls ?? [])]) {
        const { run } = one;
        delete one.run;
        if (run) {
          this._lane(one.id)?.reset({ v: PROTOCOL_VERSION, n: 0, run, settings: null, step: null } as unknown as Snapshot);
        }
      }
    }
  }

  private _lane(callId: string): RunStore | undefined {
    let lane = this._lanes.get(callId);
    if (!lane && this._lanes.size < MOST_LANES && this._depth < DEEPEST) {
      lane = new RunStore(this._clock, this._depth + 1);
      this._lanes.set(callId, lane);
    }
    return lane;
  }

  private _takeLane({ call, message }: LaneMessage): void {
    const given: unknown = message;
    if (typeof call !== 'string' || !isObject(given)) {
      return;
    }
    if (isLater(given.v)) {
      this._sayNewer();
      return;
    }
    const lane = this._lane(call);
    lane?._fold(message); // its messages come in those of this run, which are numbered
    if (lane?.run.isNewer) {
      this._sayNewer();
    }
    this._tell({ kind: 'now' });
  }

  private _fold(message: Message): void {
    switch (message.kind) {
      case 'head':
        this._setHead(message.head);
        this._tell({ kind: 'head' });
        break;
      case 'step': {
        const step = readStep(message.step);
        if (step) {
          this._put(message.place, step);
        }
        break;
      }
      case 'now':
        if (message.now?.step_number !== this.run.now?.step_number) {
          this._lanes.clear();
        }
        this.run.now = continued(readNow(message.now) ?? null, this.run.now);
        this.run.nowAtMs = this._clock();
        this._tell({ kind: 'now' });
        break;
      case 'text':
        this._write(message);
        break;
      case 'totals': {
        const { n_steps, duration_s } = message;
        const usage = readUsage(message.usage);
        this._setHead({ ...this.run.head, n_steps, duration_s, usage });
        this._tell({ kind: 'head' });
        break;
      }
      case 'lane':
        this._takeLane(message);
        break;
      case 'settings':
        this.run.settings = readSettings(message.settings) ?? null;
        this._tell({ kind: 'settings' });
        break;
      case 'end':
        this.run.now = null;
        this._setHead(message.head);
        this._tell({ kind: 'end' });
        break;
      default:
        this._sayNewer();
    }
  }

  private _setHead(given: RunHead): void {
    this.run.head = readHead(given) ?? this.run.head;
    this.run.toldAtMs = this._clock();
    if (this.run.head.version > RECORD_VERSION) {
      this._sayNewer();
    }
  }

  private _put(place: number, step: AnyStepRecord): void {
    const { steps } = this.run;
    if (!Number.isSafeInteger(place) || place < 0 || place >= MOST_STEPS) {
      return;
    }
    while (steps.length < place) {
      steps.push(null);
    }
    steps[place] = step;
    this._tell({ kind: 'step', place });
  }

  private _write(message: TextMessage): void {
    const { now } = this.run;
    if (!now || typeof message.add !== 'string') {
      return;
    }
    if (grow(now, message)) {
      this._tell({ kind: 'text' });
    } else {
      this._sayNewer();
    }
  }

  private _sayNewer(): void {
    if (!this.run.isNewer) {
      this.run.isNewer = true;
      this._tell({ kind: 'news' });
    }
  }

  private _tell(change: Change): void {
    this._listeners.forEach(listener => {
      listener(change);
    });
  }
}

function isChanged(step: AnyStepRecord | null): boolean {
  const { view, is_pinned, edited_by } = step?.laid_on ?? {};
  return view !== undefined || is_pinned === true || edited_by !== undefined;
}

function isLater(version: unknown): boolean {
  return typeof version === 'number' && version > PROTOCOL_VERSION;
}

/** Steps by place: of a long run a record holds the first third and the last two of what it holds. */
function placed(given: unknown[], nLeftOut: number): (AnyStepRecord | null)[] {
  const steps = given.map(step => readStep(step) ?? null);
  const n = Math.min(nLeftOut, Math.max(MOST_STEPS - steps.length, 0));
  if (!n) {
    return steps;
  }
  const nFirst = Math.floor(steps.length / 3);
  return [...steps.slice(0, nFirst), ...new Array<null>(n).fill(null), ...steps.slice(nFirst)];
}
