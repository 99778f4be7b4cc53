/**
 * A run as an anywidget: one store for each model, fed by its messages; a view for each place it is shown.
 *
 * A view has controls as long as there is a kernel that takes what it asks. It must not draw.
 */
import type { Message, Snapshot } from '../protocol';
import type { IDrawing, IModel } from './model';
import { isObject } from './reading';
import { Route, watchKernel } from './route';
import { Steered } from './steered';
import { RunStore } from './store';
import { mountRun } from './view';
import type { Ask } from './view';

export function runDrawing(): IDrawing {
  const store = new RunStore();
  const route = new Route(() => store.run.head.run_id);
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
  const lose = (): void => {
    route.close();
    store.lose();
  };
  return {
    initialize: ({ model }) => {
      const onMessage = (content: unknown): void => {
        if (!route.take(content)) {
          store.take(content as Message);
        }
      };
      const onSnapshot = (): void => {
        takeSnapshot(model);
      };
      /** A run that goes on and is not told of has lost who told of it. */
      const onLive = (): void => {
        if (model.get('is_live') === false && store.isRunning) {
          lose();
        }
      };
      takeSnapshot(model);
      onLive();
      model.on('msg:custom', onMessage);
      model.on('change:snapshot', onSnapshot);
      model.on('change:is_live', onLive);
      model.on('comm_live_update', lose); // told of a comm that was open: it is not any more
      return () => {
        model.off('msg:custom', onMessage);
        model.off('change:snapshot', onSnapshot);
        model.off('change:is_live', onLive);
        model.off('comm_live_update', lose);
      };
    },
    render: ({ model, el }) => {
      if (!hasSnapshot) {
        takeSnapshot(model);
      }
      const ask: Ask = body => route.send(model, el, body);
      const greeting = new Greeting(model, store, ask, lose);
      const steered = new Steered(
        ask,
        () => Boolean(model.get('nonce')) && !store.run.isGone,
        given => mountRun(el, store, given)
      );
      const unsubscribe = store.subscribe(steered.update);
      const unwatch = watchKernel(el, isUp => {
        if (isUp) {
          void greeting.greet();
        } else {
          lose();
        }
      });
      model.on('change:nonce', steered.update);
      void greeting.greet();
      return () => {
        model.off('change:nonce', steered.update);
        unsubscribe();
        unwatch();
        greeting.end();
        steered.dispose();
      };
    }
  };
}

/**
 * Tells the kernel of a run that goes on that a page shows it, so that it asks its person here; and gets
 * the run as it stands where this page came late or has missed something.
 */
class Greeting {
  private _isGreeting = false;
  private _isOver = false;
  private readonly _unsubscribe: () => void;

  constructor(
    private readonly _model: IModel,
    private readonly _store: RunStore,
    private readonly _ask: Ask,
    private readonly _lose: () => void
  ) {
    this._unsubscribe = _store.subscribe(change => {
      if (change.kind === 'news' && _store.run.nMissed) {
        void this.greet();
      }
    });
  }

  async greet(): Promise<void> {
    const { isGone } = this._store.run;
    if (this._isGreeting || this._isOver || isGone || !this._model.get('is_live') || !this._model.get('nonce')) {
      return;
    }
    this._isGreeting = true;
    const reply = await this._ask({ verb: 'hello', snapshot: true }).catch(() => null);
    this._isGreeting = false;
    if (this._isOver || !reply) {
      return;
    }
    if (!reply.ok) {
      this._lose(); // there is a kernel, but it is not the one that runs this
    } else if (isObject(reply.data) && isObject(reply.data.snapshot)) {
      this._store.offer(reply.data.snapshot as unknown as Snapshot);
    }
  }

  end(): void {
    this._isOver = true;
    this._unsubscribe();
  }
}
