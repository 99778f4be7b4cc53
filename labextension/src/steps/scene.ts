/**
 * What the parts of one view share: the run, a way to ask the kernel, and a way to be drawn again.
 *
 * It must not hold anything of a single part.
 */
import type { RequestBody, Reply } from '../protocol';
import type { RunStore } from './store';

/** Sends a request to the kernel. */
export type Ask = (request: RequestBody) => Promise<Reply>;

export interface IScene {
  readonly store: RunStore;
  /** null: there is no kernel to ask. */
  readonly ask: Ask | null;
  /** Draw again what has changed, with the next frame. */
  redraw(): void;
}
