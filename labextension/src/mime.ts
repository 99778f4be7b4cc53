/**
 * Draws the record of a run in JupyterLab, with its controls as long as the kernel that ran it lives.
 *
 * It must not draw steps itself (`steps/` does), nor trust the record: notebooks come from anywhere.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import { bridgeReady } from './bridge';
import { PROTOCOL_VERSION, RUN_MIME } from './protocol';
import type { HelloData, LaidOnRecord, Reply, RequestBody, Snapshot } from './protocol';
import { isObject } from './steps/reading';
import { fromRecord } from './steps/record';
import { RunStore } from './steps/store';
import { mountLine, mountRun } from './steps/view';
import type { Ask, IMounted } from './steps/view';
import { WORDS } from './steps/words';

/** Before `text/html` (50), after a live widget (0). */
const RANK = 40;
/** Between two looks at a run that goes on: no page but that which began it is told of it. */
const LOOK_MS = 1_000;

let nRequests = 0;

class RunRenderer extends Widget implements IRenderMime.IRenderer {
  private readonly _store = new RunStore();
  private readonly _mimeType: string;
  private _snapshot: Snapshot | null = null;
  /** `isSteered` is null of a line that stands for a run. */
  private _mounted: (IMounted & { isSteered: boolean | null }) | null = null;
  /** From the last hello; the kernel knows this view by it. */
  private _nonce = '';
  /** Of the last hello: what comes after a later one counts for nothing. */
  private _greeting = 0;
  private _unwatch: (() => void) | null = null;
  private _timer = 0;
  /** Puts the forms of the run into the output, once it has ended. */
  private _keep: ((bundle: IBundle) => void) | null = null;

  constructor(options: IRenderMime.IRendererOptions) {
    super();
    this._mimeType = options.mimeType;
    this.addClass('jp-AgentMagic-output');
  }

  /** Draw the record; what was opened of the same run stays open. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._snapshot = fromRecord(model.data[this._mimeType]);
    this._keep = bundle => {
      model.setData({ data: bundle as IRenderMime.IMimeModel['data'] });
    };
    if (this._snapshot) {
      this._store.reset(this._snapshot);
      this._mount(this._mounted?.isSteered ?? false);
      await this._greet();
    } else {
      this._unmount();
      // The run stands beside the record in words, which no version is needed for.
      const text = model.data['text/plain'];
      const line = mountLine(this.node, WORDS.unreadable, typeof text === 'string' ? text : '');
      this._mounted = Object.assign(line, { isSteered: null });
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      clearTimeout(this._timer);
      this._unmount();
      super.dispose();
    }
  }

  /** Only now the notebook is known, and with it the kernel. */
  protected override onAfterAttach(): void {
    void bridgeReady.then(bridge => {
      if (this.isAttached && !this._unwatch) {
        this._unwatch = bridge.watch(this.node, isUp => {
          void (isUp ? this._greet() : this._part());
        });
      }
    });
    void this._greet();
  }

  protected override onBeforeDetach(): void {
    this._unwatch?.();
    this._unwatch = null;
    this._greeting += 1;
    clearTimeout(this._timer);
  }

  /** Ask the notebook's kernel whether it knows the run, and show controls if so. */
  private async _greet(): Promise<void> {
    const snapshot = this._snapshot;
    this._greeting += 1;
    const greeting = this._greeting;
    if (!snapshot || !this.isAttached) {
      return;
    }
    clearTimeout(this._timer);
    const wentOn = snapshot.run.status === 'running';
    // No kernel, or none with agent_magic: the run is shown without controls.
    const reply = await this._request({ verb: 'hello', ...(wentOn ? WHOLE : {}) }).catch(() => null);
    if (greeting !== this._greeting || this.isDisposed) {
      return;
    }
    const hello = reply?.ok ? readHello(reply.data) : null;
    if (wentOn) {
      this._follow(hello);
      return;
    }
    if (hello) {
      this._nonce = hello.nonce;
      this._store.reset({ ...snapshot, settings: hello.settings });
      hello.steps.forEach((laidOn, place) => {
        this._store.showLaidOn(place, { view: laidOn?.view ?? null, is_pinned: laidOn?.is_pinned ?? false });
      });
    }
    this._mount(hello !== null);
  }

  /** Show a run that went on when the notebook was saved: how far it is now, its end, or that it was lost. */
  private _follow(hello: IHello | null): void {
    if (hello?.bundle) {
      this._keep?.(hello.bundle); // and what is kept is drawn
      return;
    }
    if (hello) {
      this._nonce = hello.nonce;
      if (hello.snapshot && this._store.run.isGone) {
        this._store.reset(hello.snapshot);
      } else if (hello.snapshot) {
        this._store.offer(hello.snapshot);
      }
      this._timer = window.setTimeout(() => void this._greet(), LOOK_MS);
    } else {
      this._store.lose();
    }
    this._mount(hello !== null);
  }

  /** The kernel goes: what it knew is lost. */
  private _part(): void {
    this._greeting += 1;
    clearTimeout(this._timer);
    if (this._store.isRunning) {
      this._store.lose();
    }
    if (this._mounted?.isSteered) {
      this._mount(false);
    }
  }

  private _mount(isSteered: boolean): void {
    if (this._mounted?.isSteered !== isSteered) {
      const focused = linesOf(this.node).indexOf(document.activeElement as HTMLElement);
      this._unmount();
      const ask: Ask = request => this._request(request);
      this._mounted = Object.assign(mountRun(this.node, this._store, isSteered ? ask : null), { isSteered });
      // Who goes through the steps by the keyboard stays where they are.
      linesOf(this.node)[focused]?.focus({ preventScroll: true });
    }
  }

  private _unmount(): void {
    this._mounted?.dispose();
    this._mounted = null;
    this.node.replaceChildren();
  }

  private async _request(body: RequestBody): Promise<Reply> {
    const bridge = await bridgeReady;
    const run_id = this._snapshot?.run.run_id ?? '';
    nRequests += 1;
    return bridge.request(
      { ...body, v: PROTOCOL_VERSION, id: `${run_id}-${nRequests}`, nonce: this._nonce, run_id },
      { node: this.node, kernelId: null }
    );
  }
}

const WHOLE = { snapshot: true, bundle: true } as const;

/** The lines of the steps that are drawn, which open and close them. */
function linesOf(node: HTMLElement): HTMLElement[] {
  return [...node.querySelectorAll<HTMLElement>('[role=listitem] .jp-AgentMagic-step-line')];
}

interface IBundle {
  [mime: string]: unknown;
}

type IHello = Pick<HelloData, 'nonce' | 'settings' | 'steps' | 'snapshot' | 'bundle'>;

function readHello(data: unknown): IHello | null {
  if (!isObject(data) || typeof data.nonce !== 'string' || !Array.isArray(data.steps)) {
    return null;
  }
  const { nonce, settings, steps, snapshot, bundle } = data as unknown as HelloData;
  return {
    nonce,
    settings,
    steps: steps.map((laidOn): LaidOnRecord | null => (isObject(laidOn) ? laidOn : null)),
    ...(isObject(snapshot) ? { snapshot } : {}),
    ...(isObject(bundle) && RUN_MIME in bundle ? { bundle } : {})
  };
}

const extension: IRenderMime.IExtension = {
  id: 'agent-magic:run',
  description: 'Draws runs of agent_magic from their record.',
  rendererFactory: {
    safe: true,
    mimeTypes: [RUN_MIME],
    defaultRank: RANK,
    createRenderer: options => new RunRenderer(options)
  },
  rank: RANK,
  dataType: 'json'
};

export default extension;
