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

  constructor(options: IRenderMime.IRendererOptions) {
    super();
    this._mimeType = options.mimeType;
    this.addClass('jp-AgentMagic-output');
  }

  /** Draw the record; what was opened of the same run stays open. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._snapshot = fromRecord(model.data[this._mimeType]);
    if (this._snapshot) {
      this._store.reset(this._snapshot);
      this._mount(this._mounted?.isSteered ?? false);
      await this._greet();
    } else {
      this._unmount();
      this._mounted = Object.assign(mountLine(this.node, WORDS.unreadable), { isSteered: null });
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
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
  }

  /** Ask the notebook's kernel whether it knows the run, and show controls if so. */
  private async _greet(): Promise<void> {
    const snapshot = this._snapshot;
    this._greeting += 1;
    const greeting = this._greeting;
    if (!snapshot || !this.isAttached) {
      return;
    }
    // No kernel, or none with agent_magic: the run is shown without controls.
    const reply = await this._request({ verb: 'hello' }).catch(() => null);
    if (greeting !== this._greeting || this.isDisposed) {
      return;
    }
    const hello = reply?.ok ? readHello(reply.data) : null;
    if (hello) {
      this._nonce = hello.nonce;
      this._store.reset({ ...snapshot, settings: hello.settings });
      hello.steps.forEach((laidOn, place) => {
        this._store.layOn(place, { view: laidOn?.view ?? null, is_pinned: laidOn?.is_pinned ?? false });
      });
    }
    this._mount(hello !== null);
  }

  /** The kernel goes: what it knew is lost. */
  private _part(): void {
    this._greeting += 1;
    if (this._mounted?.isSteered) {
      this._mount(false);
    }
  }

  private _mount(isSteered: boolean): void {
    if (this._mounted?.isSteered !== isSteered) {
      this._unmount();
      const ask: Ask = request => this._request(request);
      this._mounted = Object.assign(mountRun(this.node, this._store, isSteered ? ask : null), { isSteered });
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

function readHello(data: unknown): Pick<HelloData, 'nonce' | 'settings' | 'steps'> | null {
  if (!isObject(data) || typeof data.nonce !== 'string' || !Array.isArray(data.steps)) {
    return null;
  }
  const { nonce, settings, steps } = data as unknown as HelloData;
  return { nonce, settings, steps: steps.map((laidOn): LaidOnRecord | null => (isObject(laidOn) ? laidOn : null)) };
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
