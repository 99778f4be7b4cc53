/**
 * What anywidget loads: draws a widget by its `kind`.
 *
 * anywidget gives `initialize` and `render` different proxies of one model, so what they share lives
 * in the closure of the factory. It must not draw.
 */
import { agentDrawing } from './panel/drawing';
import { runDrawing } from './steps/drawing';
import type { IDrawing, IModel } from './steps/model';
import { mountLine } from './steps/view';
import { WORDS } from './steps/words';

/** Makes a drawing of each kind of widget; one for each model. */
const KINDS: ReadonlyMap<unknown, () => IDrawing> = new Map<unknown, () => IDrawing>([
  ['run', runDrawing],
  ['agent', agentDrawing]
]);

export default function create(): IDrawing {
  let drawing: IDrawing | null = null;
  const drawingOf = (model: IModel): IDrawing => {
    drawing ??= (KINDS.get(model.get('kind')) ?? unknownDrawing)();
    return drawing;
  };
  return {
    initialize: context => drawingOf(context.model).initialize(context),
    render: context => drawingOf(context.model).render(context)
  };
}

/** For a kind of widget that only a newer agent_magic knows. */
function unknownDrawing(): IDrawing {
  return {
    initialize: () => () => undefined,
    render: ({ el }) => {
      const mounted = mountLine(el, WORDS.newer);
      return () => {
        mounted.dispose();
      };
    }
  };
}
