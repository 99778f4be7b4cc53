/**
 * The rows of a run's list: a step each, and a line where a long run has left steps out.
 *
 * It makes a row when it is asked for, and lets it go when it is out of sight; a row that was opened
 * is kept, with what was typed in it. It must not know where in the page rows are drawn.
 */
import { el, say } from './elements';
import { gap } from './figures';
import type { IRows } from './list';
import { StepRow } from './row';
import type { IScene } from './scene';

/** A step by its place, or so many that are left out from there on. */
interface IRowPlace {
  place: number;
  nLeftOut: number;
}

export class StepRows implements IRows {
  private _places: IRowPlace[] = [];
  private readonly _rows = new Map<number, StepRow>();
  private readonly _gaps = new Map<number, HTMLElement>();

  constructor(
    private readonly _scene: IScene,
    private readonly _onlyStep: number | undefined
  ) {}

  get length(): number {
    return this._places.length;
  }

  /** Find the rows anew: a step was added, or a snapshot came. */
  update(): void {
    const { steps } = this._scene.store.run;
    const only = this._only();
    const places: IRowPlace[] = [];
    let last: IRowPlace | undefined;
    steps.forEach((step, place) => {
      if (step && (only === null || step.step_number === only)) {
        last = undefined;
        places.push({ place, nLeftOut: 0 });
      } else if (!step && only === null) {
        if (!last) {
          last = { place, nLeftOut: 0 };
          places.push(last);
        }
        last.nLeftOut += 1;
      }
    });
    this._places = places;
  }

  draw(index: number): HTMLElement {
    const at = this._places[index];
    const step = at ? this._scene.store.run.steps[at.place] : null;
    if (!at || !step) {
      return this._gap(at);
    }
    let row = this._rows.get(at.place);
    if (!row) {
      row = new StepRow(this._scene, at.place, () => {
        this._scene.redraw();
      });
      this._rows.set(at.place, row);
    }
    row.update(step, this.isOpen(index));
    return row.node;
  }

  isOpen(index: number): boolean {
    const at = this._places[index];
    return at?.nLeftOut === 0 && this._scene.store.isOpen(String(at.place), this._only() !== null);
  }

  drop(index: number): void {
    const at = this._places[index];
    if (at && !this.isOpen(index)) {
      this._rows.delete(at.place);
      this._gaps.delete(at.place);
    }
  }

  private _only(): number | null {
    return this._onlyStep ?? this._scene.store.run.step;
  }

  private _gap(at: IRowPlace | undefined): HTMLElement {
    const place = at?.place ?? -1;
    let node = this._gaps.get(place);
    if (!node) {
      node = el('div', 'step gap');
      node.setAttribute('role', 'listitem');
      this._gaps.set(place, node);
    }
    say(node, gap(at?.nLeftOut ?? 0, 'step'));
    return node;
  }
}
