/**
 * The ways from a widget to its kernel, and the news that the kernel is gone.
 *
 * A request goes over the bridge of our Lab extension, which is answered while a cell runs, or else over
 * the widget's comm. It must not know what is asked, nor draw.
 */
import { PROTOCOL_VERSION } from '../protocol';
import type { Reply, ReplyMessage, Request, RequestBody } from '../protocol';
import type { IModel } from './model';
import { isObject } from './reading';
import { WORDS } from './words';

/** What our Lab extension puts into the page. */
interface IBridge {
  request(content: Request, origin: { node: Node; kernelId: string | null }): Promise<Reply>;
  watch?(node: Node, changed: (isUp: boolean) => void): () => void;
}

/** Requests that were sent over the comm and are not answered yet, at most. */
const MOST_WAITING = 200;
/** A view is in the page, and our extension started, within `MOST_LOOKS` of these. */
const LOOK_MS = 250;
const MOST_LOOKS = 40;

/** The requests of one model. */
export class Route {
  private readonly _waiting = new Map<string, (reply: Reply) => void>();

  /** `runId` gives what requests are about. */
  constructor(private readonly _runId: () => string) {}

  /** Take what came over the comm, if it is a reply; else false. */
  take(content: unknown): boolean {
    if (!isObject(content) || content.kind !== 'reply') {
      return false;
    }
    const { id, reply } = content as unknown as ReplyMessage;
    this._waiting.get(id)?.(readReply(reply));
    this._waiting.delete(id);
    return true;
  }

  /** Ask the kernel for a view in `node`. */
  async send(model: IModel, node: HTMLElement, body: RequestBody): Promise<Reply> {
    const request: Request = {
      ...body,
      v: PROTOCOL_VERSION,
      id: newId(),
      nonce: String(model.get('nonce')),
      run_id: this._runId()
    };
    const bridge = bridgeOfPage();
    if (!bridge) {
      return this._overComm(model, request);
    }
    const kernelId = model.get('kernel_id');
    const origin = { node, kernelId: typeof kernelId === 'string' && kernelId ? kernelId : null };
    try {
      return readReply(await bridge.request(request, origin));
    } catch (error) {
      // A view may stand where the bridge sees no kernel, and its comm reach one.
      if (error instanceof Error && error.name === 'NoKernel') {
        return this._overComm(model, request);
      }
      throw error;
    }
  }

  /** The kernel is gone: what was asked of it will not be answered. */
  close(): void {
    this._waiting.forEach(answer => {
      answer({ v: PROTOCOL_VERSION, ok: false, error: WORDS.noAnswer });
    });
    this._waiting.clear();
  }

  private _overComm(model: IModel, request: Request): Promise<Reply> {
    return new Promise(resolve => {
      const [oldest] = this._waiting.keys();
      if (this._waiting.size >= MOST_WAITING && oldest !== undefined) {
        this._waiting.delete(oldest);
      }
      this._waiting.set(request.id, resolve);
      model.send({ kind: 'request', request });
    });
  }
}

/**
 * Be told when the kernel behind a view goes (`false`), and when one is there again (`true`), as far as
 * the bridge sees it; returns what ends it.
 */
export function watchKernel(node: HTMLElement, changed: (isUp: boolean) => void): () => void {
  let unwatch: (() => void) | undefined;
  let timer = 0;
  const look = (nLooks: number): void => {
    const bridge = bridgeOfPage();
    // Only in the page it is known which notebook has it.
    if (bridge?.watch && node.isConnected) {
      unwatch = bridge.watch(node, changed);
    } else if (nLooks < MOST_LOOKS) {
      timer = window.setTimeout(look, LOOK_MS, nLooks + 1);
    }
  };
  look(0);
  return () => {
    clearTimeout(timer);
    unwatch?.();
  };
}

/** A reply of the right form, whatever came. */
function readReply(reply: unknown): Reply {
  if (isObject(reply) && reply.ok === true) {
    const effective = typeof reply.effective === 'string' ? { effective: reply.effective } : {};
    return { v: PROTOCOL_VERSION, ok: true, ...effective, data: reply.data };
  }
  const error = isObject(reply) && typeof reply.error === 'string' ? reply.error : WORDS.refused;
  return { v: PROTOCOL_VERSION, ok: false, error };
}

function bridgeOfPage(): IBridge | undefined {
  return (globalThis as { agentMagic?: IBridge }).agentMagic;
}

function newId(): string {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return [...random].map(part => part.toString(36)).join('');
}
