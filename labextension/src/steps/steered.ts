/**
 * Keeps a view mounted, with controls as long as what it shows can be asked, and anew when that changes.
 *
 * It must not know what is shown.
 */
import type { Ask } from './scene';
import type { IMounted } from './view';

/** `mount` draws with controls, or without where it is given null. */
export class Steered implements IMounted {
  private _mounted: IMounted | null = null;
  private _isSteered: boolean | null = null;

  constructor(
    private readonly _ask: Ask,
    private readonly _canAsk: () => boolean,
    private readonly _mount: (ask: Ask | null) => IMounted
  ) {
    this.update();
  }

  readonly update = (): void => {
    const canAsk = this._canAsk();
    if (canAsk !== this._isSteered) {
      this._mounted?.dispose();
      this._isSteered = canAsk;
      this._mounted = this._mount(canAsk ? this._ask : null);
    }
  };

  dispose(): void {
    this._mounted?.dispose();
  }
}
