/**
 * Frames: many changes become one drawing, at the page's pace.
 *
 * A page that is hidden gets no frames, so a slow timer draws too, and so does coming back. It must
 * not know what is drawn.
 */

/** How late a drawing may be where the page gives no frames. */
const LATEST_MS = 250;

export class Frames {
  private _frame = 0;
  private _timer = 0;
  private _isWanted = false;
  private _isDisposed = false;
  private readonly _onVisible = (): void => {
    if (this._isWanted) {
      this.flush();
    }
  };

  constructor(private readonly _draw: () => void) {
    document.addEventListener('visibilitychange', this._onVisible);
  }

  /** Draw with the next frame. */
  ask(): void {
    if (this._isWanted || this._isDisposed) {
      return;
    }
    this._isWanted = true;
    this._frame = requestAnimationFrame(() => {
      this.flush();
    });
    this._timer = window.setTimeout(() => {
      this.flush();
    }, LATEST_MS);
  }

  /** Draw now. */
  flush(): void {
    this._cancel();
    if (!this._isDisposed) {
      this._draw();
    }
  }

  dispose(): void {
    this._cancel();
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this._onVisible);
  }

  private _cancel(): void {
    this._isWanted = false;
    cancelAnimationFrame(this._frame);
    clearTimeout(this._timer);
  }
}
