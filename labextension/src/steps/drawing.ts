/**
 * A run as an anywidget: one store for each model, fed by its messages; a view for each place it is shown.
 *
 * Requests go over the bridge of our Lab extension, which is answered while a cell runs, or else over
 * the widget's comm. It must not draw.
 */
import { PROTOCOL_VERSION } from '../protocol';
import type { Message, Reply, ReplyMessage, Request, RequestBody, Snapshot } from '../protocol';
import { isObject } from './reading';
import { RunStore } from './store';
import { mountRun } from './view';
import type { Ask } from './view';

/** The part of an anywidget model that is needed. */
export interface IModel {
  get(name: string): unknown;
  on(event: string, callback: (...given: unknown[]) => void): void;
  off(event: string, callback: (...given: unknown[]) => void): void;
  send(content: unknown): void;
}

/** What anywidget calls; both give what ends it. */
export interface IDrawing {
  initialize(context: { model: IModel }): () => void;
  render(context: { model: IModel; el: HTMLElement }): () => void;
}

interface IBridge {
  request(content: Request, origin: { node: Node; kernelId: string | null }): Promise<Reply>;
}

/** Requests that were sent over the comm and are not answered yet, at most. */
const MOST_WAITING = 200;

export function runDrawing(): IDrawing {
  const store = new RunStore();
  const waiting = new Map<string, (reply: Reply) => void>();
  let hasSnapshot = false;
  const takeSnapshot = (model: IModel): void => {
    const snapshot = model.get('snapshot');
    if (isObject(snapshot)) {
      if (hasSnapshot) {
        store.offer(snapshot as unknown as Snapshot);
      } else {
        store.reset(snapshot as unknown as Snapshot);
      }
      hasSnapshot = true;
    }
  };
  return {
    initialize: ({ model }) => {
      const onMessage = (content: unknown): void => {
        if (isObject(content) && content.kind === 'reply') {
          const { id, reply } = content as unknown as ReplyMessage;
          waiting.get(id)?.(readReply(reply));
          waiting.delete(id);
        } else {
          store.take(content as Message);
        }
      };
      const onSnapshot = (): void => {
        takeSnapshot(model);
      };
      takeSnapshot(model);
      model.on('msg:custom', onMessage);
      model.on('change:snapshot', onSnapshot);
      return () => {
        model.off('msg:custom', onMessage);
        model.off('change:snapshot', onSnapshot);
      };
    },
    render: ({ model, el }) => {
      if (!hasSnapshot) {
        takeSnapshot(model);
      }
      const ask: Ask = body => send(model, el, store, waiting, body);
      const stopGreeting = greetWhileLive(model, store, ask);
      const mount = (): { dispose: () => void } => mountRun(el, store, model.get('nonce') ? ask : null);
      let mounted = mount();
      const remount = (): void => {
        mounted.dispose();
        mounted = mount();
      };
      model.on('change:nonce', remount);
      return () => {
        model.off('change:nonce', remount);
        stopGreeting();
        mounted.dispose();
      };
    }
  };
}

/**
 * Tell the kernel of a run that goes on that a page shows it, so that it asks its person here; and get
 * the run as it stands where this page came late or has missed something.
 */
function greetWhileLive(model: IModel, store: RunStore, ask: Ask): () => void {
  let isGreeting = false;
  let isOver = false;
  const greet = async (): Promise<void> => {
    if (isGreeting || isOver || !model.get('is_live') || !model.get('nonce')) {
      return;
    }
    isGreeting = true;
    const reply = await ask({ verb: 'hello', snapshot: true }).catch(() => null);
    isGreeting = false;
    const data: unknown = reply?.ok ? reply.data : null;
    if (!isOver && isObject(data) && isObject(data.snapshot)) {
      store.offer(data.snapshot as unknown as Snapshot);
    }
  };
  void greet();
  const unsubscribe = store.subscribe(change => {
    if (change.kind === 'news' && store.run.nMissed) {
      void greet();
    }
  });
  return () => {
    isOver = true;
    unsubscribe();
  };
}

async function send(
  model: IModel,
  node: HTMLElement,
  store: RunStore,
  waiting: Map<string, (reply: Reply) => void>,
  body: RequestBody
): Promise<Reply> {
  const request: Request = {
    ...body,
    v: PROTOCOL_VERSION,
    id: newId(),
    nonce: String(model.get('nonce')),
    run_id: store.run.head.run_id
  };
  const bridge = (globalThis as { agentMagic?: IBridge }).agentMagic;
  if (bridge) {
    const kernelId = model.get('kernel_id');
    const origin = { node, kernelId: typeof kernelId === 'string' && kernelId ? kernelId : null };
    return readReply(await bridge.request(request, origin));
  }
  return new Promise(resolve => {
    const [oldest] = waiting.keys();
    if (waiting.size >= MOST_WAITING && oldest !== undefined) {
      waiting.delete(oldest);
    }
    waiting.set(request.id, resolve);
    model.send({ kind: 'request', request });
  });
}

/** A reply of the right form, whatever came. */
export function readReply(reply: unknown): Reply {
  if (isObject(reply) && reply.ok === true) {
    const effective = typeof reply.effective === 'string' ? { effective: reply.effective } : {};
    return { v: PROTOCOL_VERSION, ok: true, ...effective, data: reply.data };
  }
  const error = isObject(reply) && typeof reply.error === 'string' ? reply.error : 'The kernel refused.';
  return { v: PROTOCOL_VERSION, ok: false, error };
}

function newId(): string {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return [...random].map(part => part.toString(36)).join('');
}
