/**
 * What happens now, in words, with a countdown while the run waits; and Stop, Pause, Go on.
 *
 * It must not draw what the model writes: `now` does.
 */
import type { RequestBody } from '../protocol';
import { asked } from './asking';
import type { Said } from './asking';
import { doingWords, waitWords } from './doing';
import { append, button, el, say } from './elements';
import type { IScene } from './scene';
import { WORDS } from './words';

export class Progress {
  readonly node = el('div', 'progress');
  private readonly _words = el('span', 'doing');
  private readonly _left = el('span', 'label');
  private readonly _stop: HTMLButtonElement;
  private readonly _pause: HTMLButtonElement;

  constructor(
    private readonly _scene: IScene,
    private readonly _said: Said
  ) {
    this._words.setAttribute('role', 'status');
    this._words.setAttribute('aria-live', 'polite');
    this._left.setAttribute('aria-hidden', 'true'); // read out every second it would be noise
    this._stop = button(WORDS.stop, 'button is-stop', () => {
      this._ask({ verb: 'stop' }, WORDS.stop);
    });
    this._stop.title = WORDS.stopHint;
    this._pause = button(WORDS.pause, 'button', () => {
      const isPaused = this._isPaused();
      this._ask({ verb: isPaused ? 'go_on' : 'pause' }, isPaused ? WORDS.goOn : WORDS.pause);
    });
    append(this.node, el('span', 'dot'), this._words, this._left);
    append(this.node, this._scene.ask && this._stop, this._scene.ask && this._pause);
  }

  update(): void {
    const { now } = this._scene.store.run;
    say(this._words, now ? doingWords(now) : WORDS.starting);
    say(this._pause, this._isPaused() ? WORDS.goOn : WORDS.pause);
    this.tick();
  }

  /** Show how long a pause still is. */
  tick(): void {
    say(this._left, waitWords(this._scene.store));
  }

  private _isPaused(): boolean {
    const { now, settings } = this._scene.store.run;
    return settings ? settings.is_paused : now?.doing === 'paused';
  }

  private _ask(request: RequestBody, what: string): void {
    const { ask } = this._scene;
    if (ask) {
      void asked(ask, request, this._said, what);
    }
  }
}
