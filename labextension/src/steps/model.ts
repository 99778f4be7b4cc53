/**
 * What anywidget gives to a drawing, and what it calls of it, as far as they are needed.
 *
 * It must not hold code.
 */

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
