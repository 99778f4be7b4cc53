/**
 * Code that runs: a mark that it does, the code, and the calls that it makes as they come.
 *
 * What is in the page stays: a block of thousands of calls costs what is new in it. It must not draw the
 * result: once the code has one, it is drawn as a finished call.
 */
import type { CallRecord } from '../protocol';
import { codeBlock } from './block';
import { callNode, callRow, FIRST_INNER, innerKey } from './call';
import { arrange, button, el, say } from './elements';
import { gap, grouped } from './figures';
import { Lanes } from './nowLane';
import type { IScene } from './scene';
import { WORDS } from './words';

interface IRow {
  node: HTMLElement;
  sign: string;
}

export class NowCode {
  readonly node = el('div', 'now-code');
  private readonly _head = el('div', 'call-head is-running', el('span', 'dot'), el('span', 'label', WORDS.codeRunning));
  private readonly _count = el('div', 'label');
  private readonly _gap = el('div', 'label');
  private readonly _rowsNode = el('div', 'inner-calls');
  private readonly _earlier: HTMLButtonElement;
  private readonly _running = el('div', 'call');
  private _code: HTMLElement | null = null;
  private _finished: HTMLElement | null = null;
  private _shownCode = '';
  private _sign = '';
  private _rows = new Map<string, IRow>();
  private _showsAll = false;
  private readonly _lanes: Lanes;

  /** `key` says where it stands, for what is opened in it. */
  constructor(
    private readonly _scene: IScene,
    private readonly _key: string
  ) {
    this._lanes = new Lanes(_scene);
    this._earlier = button('', 'button is-quiet', () => {
      this._showsAll = true;
      this._scene.redraw();
    });
  }

  /** Show the code as it stands; `running` has the ids of the calls that run. */
  update(call: CallRecord, running: ReadonlySet<string>): void {
    if (running.has(call.id)) {
      this._drawRunning(call, running);
      arrange(this.node, [this._running]);
      this._finished = null;
      return;
    }
    const sign = `${call.observation !== undefined} ${call.error !== undefined}`;
    if (!this._finished || sign !== this._sign) {
      this._finished = callNode(this._scene, this._key, call);
      this._sign = sign;
    }
    arrange(this.node, [this._finished]);
  }

  /** Let the time go on. */
  tick(): void {
    this._lanes.tick();
  }

  private _drawRunning(call: CallRecord, running: ReadonlySet<string>): void {
    const { code = '' } = call;
    if (!this._code || code !== this._shownCode) {
      this._code = codeBlock(code);
      this._shownCode = code;
    }
    const { calls = [], calls_left_out: nLeftOut = 0 } = call;
    const n = calls.length + nLeftOut;
    say(this._count, `${WORDS.calls} (${grouped(n)})`);
    const shown = this._showsAll ? calls : calls.slice(-FIRST_INNER);
    say(this._earlier, `${WORDS.showEarlier} (${grouped(calls.length - shown.length)} calls)`);
    this._drawRows(shown, nLeftOut, running);
    arrange(this._running, [
      this._head,
      this._code,
      ...(n ? [this._count] : []),
      ...(shown.length < calls.length ? [this._earlier] : []),
      this._rowsNode
    ]);
  }

  private _drawRows(shown: CallRecord[], nLeftOut: number, running: ReadonlySet<string>): void {
    const before = this._rows;
    this._rows = new Map();
    for (const [place, inner] of shown.entries()) {
      const isRunning = running.has(inner.id);
      const sign = `${isRunning} ${inner.observation !== undefined} ${inner.error !== undefined}`;
      const sameId = innerKey(this._key, inner);
      // Of two calls with one id, which no kernel makes, each has its row.
      const key = this._rows.has(sameId) ? `${sameId} ${place}` : sameId;
      const known = before.get(key);
      const node = known?.sign === sign ? known.node : callRow(this._scene, key, inner, isRunning);
      this._rows.set(key, { node, sign });
    }
    const nodes: HTMLElement[] = [...this._rows.values()].map(row => row.node);
    for (const inner of shown) {
      const lane = this._lanes.nodeOf(inner);
      const row = lane && this._rows.get(innerKey(this._key, inner))?.node;
      if (lane && row) {
        nodes.splice(nodes.indexOf(row) + 1, 0, lane);
      }
    }
    if (nLeftOut && this._showsAll) {
      say(this._gap, gap(nLeftOut, 'call'));
      nodes.splice(Math.floor(nodes.length / 3), 0, this._gap);
    }
    arrange(this._rowsNode, nodes);
  }
}
