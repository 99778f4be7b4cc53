/**
 * An agent as an anywidget: one store for each model, which is told of each new snapshot.
 *
 * A panel has controls as long as it is told of changes. It must not draw.
 */
import type { IDrawing } from '../steps/model';
import { Route, watchKernel } from '../steps/route';
import type { Ask } from '../steps/scene';
import { Steered } from '../steps/steered';
import { mountAgent } from './panel';
import { AgentStore } from './store';

export function agentDrawing(): IDrawing {
  const store = new AgentStore();
  const route = new Route(() => store.agent?.id ?? '');
  const part = (): void => {
    route.close();
    store.setLive(false);
  };
  return {
    initialize: ({ model }) => {
      const onMessage = (content: unknown): void => {
        route.take(content);
      };
      const onState = (): void => {
        store.reset(model.get('snapshot'));
        store.setLive(model.get('is_live') !== false);
      };
      onState();
      model.on('msg:custom', onMessage);
      model.on('change:snapshot', onState);
      model.on('change:is_live', onState);
      model.on('comm_live_update', part); // told of a comm that was open: it is not any more
      return () => {
        model.off('msg:custom', onMessage);
        model.off('change:snapshot', onState);
        model.off('change:is_live', onState);
        model.off('comm_live_update', part);
      };
    },
    render: ({ model, el }) => {
      const ask: Ask = body => route.send(model, el, body);
      const steered = new Steered(
        ask,
        () => Boolean(model.get('nonce')) && store.isLive,
        given => mountAgent(el, store, given)
      );
      const unsubscribe = store.subscribe(steered.update);
      const unwatch = watchKernel(el, isUp => {
        if (!isUp) {
          part();
        }
      });
      return () => {
        unsubscribe();
        unwatch();
        steered.dispose();
      };
    }
  };
}
