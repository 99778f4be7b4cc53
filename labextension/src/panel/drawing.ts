/**
 * An agent as an anywidget: one store for each model, which is told of each new snapshot.
 *
 * Requests go the way of those of a run. It must not draw.
 */
import { PROTOCOL_VERSION } from '../protocol';
import type { Reply, ReplyMessage, Request, RequestBody } from '../protocol';
import { readReply } from '../steps/drawing';
import type { IDrawing, IModel } from '../steps/drawing';
import { isObject } from '../steps/reading';
import { mountAgent } from './panel';
import { AgentStore } from './store';

interface IBridge {
  request(content: Request, origin: { node: Node; kernelId: string | null }): Promise<Reply>;
}

/** Requests that were sent over the comm and are not answered yet, at most. */
const MOST_WAITING = 200;

export function agentDrawing(): IDrawing {
  const store = new AgentStore();
  const waiting = new Map<string, (reply: Reply) => void>();
  let nRequests = 0;

  const send = (model: IModel, node: HTMLElement, body: RequestBody): Promise<Reply> => {
    nRequests += 1;
    const request: Request = {
      ...body,
      v: PROTOCOL_VERSION,
      id: `${Date.now().toString(36)}-${nRequests}`,
      nonce: String(model.get('nonce')),
      run_id: store.agent?.id ?? ''
    };
    const bridge = (globalThis as { agentMagic?: IBridge }).agentMagic;
    if (bridge) {
      const kernelId = model.get('kernel_id');
      const origin = { node, kernelId: typeof kernelId === 'string' && kernelId ? kernelId : null };
      return bridge.request(request, origin).then(readReply);
    }
    return new Promise(resolve => {
      const [oldest] = waiting.keys();
      if (waiting.size >= MOST_WAITING && oldest !== undefined) {
        waiting.delete(oldest);
      }
      waiting.set(request.id, resolve);
      model.send({ kind: 'request', request });
    });
  };

  return {
    initialize: ({ model }) => {
      const onMessage = (content: unknown): void => {
        if (isObject(content) && content.kind === 'reply') {
          const { id, reply } = content as unknown as ReplyMessage;
          waiting.get(id)?.(readReply(reply));
          waiting.delete(id);
        }
      };
      const onState = (): void => {
        store.reset(model.get('snapshot'));
        store.setLive(model.get('is_live') !== false);
      };
      onState();
      model.on('msg:custom', onMessage);
      model.on('change:snapshot', onState);
      model.on('change:is_live', onState);
      return () => {
        model.off('msg:custom', onMessage);
        model.off('change:snapshot', onState);
        model.off('change:is_live', onState);
      };
    },
    render: ({ model, el }) => {
      const hasNonce = Boolean(model.get('nonce'));
      const mounted = mountAgent(el, store, hasNonce ? body => send(model, el, body) : null);
      return () => {
        mounted.dispose();
      };
    }
  };
}
