/**
 * The step that is being made: what the model writes, and the calls that run.
 *
 * Growing texts are appended to a text node. It must not say how long a pause still is (`progress` does),
 * nor ask the person (`approval` does).
 */
import type { CallRecord, NowRecord } from '../protocol';
import { noteNodes } from './body';
import { callRow } from './call';
import { doingShortly, isWritingCode } from './doing';
import { append, arrange, button, el, say, textNode, toggleClass } from './elements';
import { NowCode } from './nowCode';
import { Lanes } from './nowLane';
import type { IScene } from './scene';
import { cutAfter, oneLine, toDisplay } from './text';
import { WORDS } from './words';

const NEWEST_CHARS = 20_000;
const FIRST_CALLS = 20;

/** A text that grows in place. */
class GrowingText {
  readonly node: HTMLElement;
  private readonly _text = textNode('');

  constructor(tag: 'div' | 'pre', classes: string) {
    this.node = el(tag, classes, this._text);
  }

  /** Show `text`; only what is new is added to the page. */
  write(text: string): void {
    const shown = toDisplay(cutAfter(text, NEWEST_CHARS));
    const before = this._text.data;
    if (shown === before) {
      return;
    }
    const isAtEnd = this.node.scrollTop + this.node.clientHeight >= this.node.scrollHeight - 8;
    if (before && shown.startsWith(before)) {
      this._text.appendData(shown.slice(before.length));
    } else {
      this._text.data = shown;
    }
    if (isAtEnd) {
      this.node.scrollTop = this.node.scrollHeight;
    }
  }
}

export class NowRow {
  readonly node = el('div', 'step is-now is-open');
  private readonly _toggle = el('button', 'step-line');
  private readonly _number = el('span', 'number');
  private readonly _title = el('span', 'title');
  private readonly _body = el('div', 'step-body');
  private readonly _text = new GrowingText('div', 'prose is-growing');
  private readonly _thinking = new GrowingText('div', 'prose is-growing is-reasoning');
  private readonly _code = new GrowingText('pre', 'block is-python is-growing');
  private readonly _written: { node: HTMLElement; name: HTMLElement; text: GrowingText }[] = [];
  private readonly _calls = new Map<string, { node: HTMLElement; row: HTMLElement; sign: string }>();
  private readonly _codes = new Map<string, NowCode>();
  private readonly _lanes: Lanes;
  private readonly _callsNode = el('div', 'calls');
  private readonly _more: HTMLButtonElement;
  private _stepNumber = -1;
  private _showsAll = false;
  private _isOpen = true;

  constructor(private readonly _scene: IScene) {
    this._lanes = new Lanes(_scene);
    this.node.setAttribute('role', 'listitem');
    this._toggle.type = 'button';
    this._toggle.setAttribute('aria-expanded', 'true');
    append(this._toggle, this._number, this._title);
    append(this.node, this._toggle, this._body);
    this._toggle.addEventListener('click', () => {
      this._isOpen = !this._isOpen;
      this._toggle.setAttribute('aria-expanded', String(this._isOpen));
      this._body.hidden = !this._isOpen;
    });
    this._more = button('', 'button is-quiet', () => {
      this._showsAll = true;
      this._scene.redraw();
    });
  }

  update(now: NowRecord): void {
    if (now.step_number !== this._stepNumber) {
      this._stepNumber = now.step_number;
      this._calls.clear();
      this._codes.clear();
      this._lanes.clear();
      this._showsAll = false;
    }
    say(this._number, String(now.step_number));
    say(this._title, doingShortly(now));
    const text = now.plan ?? now.thought ?? '';
    this._text.write(text);
    const isWriting = isWritingCode(now);
    this._code.write(isWriting ? (now.code ?? '') : '');
    const showsReasoning = !text && !isWriting;
    this._thinking.write(showsReasoning ? (now.reasoning ?? '') : '');
    arrange(this._body, [
      ...(text ? [this._text.node] : showsReasoning && now.reasoning ? [this._thinking.node] : []),
      ...(isWriting ? [this._code.node] : []),
      ...this._writing(now),
      ...this._calledNodes(now),
      ...noteNodes(now.notes)
    ]);
  }

  /** Let the time go on. */
  tick(): void {
    this._lanes.tick();
    this._codes.forEach(code => {
      code.tick();
    });
  }

  /** The calls of the step; those of managed agents stand side by side. */
  private _calledNodes(now: NowRecord): HTMLElement[] {
    const nodes = this._callNodes(now);
    const nLanes = (now.calls ?? []).filter(call => this._scene.store.laneOf(call.id)).length;
    toggleClass(this._callsNode, 'are-lanes', nLanes > 1);
    arrange(this._callsNode, nodes);
    return nodes.length ? [this._callsNode] : [];
  }

  private _writing(now: NowRecord): HTMLElement[] {
    // A call that runs is shown as one, no longer as it is being written.
    const writing = now.calls?.length ? [] : (now.writing ?? []);
    writing.slice(0, FIRST_CALLS).forEach(({ name, arguments: written }, place) => {
      let part = this._written[place];
      if (!part) {
        const text = new GrowingText('pre', 'block is-growing');
        const nameNode = el('code', 'call-name');
        part = { node: el('div', 'call', el('div', 'call-head', nameNode), text.node), name: nameNode, text };
        this._written.push(part);
      }
      say(part.name, oneLine(name, 80));
      part.text.write(written);
    });
    return this._written.slice(0, writing.length).map(part => part.node);
  }

  private _callNodes(now: NowRecord): HTMLElement[] {
    const calls = now.calls ?? [];
    const running = new Set(now.running);
    const shown = this._showsAll ? calls : calls.slice(0, FIRST_CALLS);
    const nodes = shown.map((call, place) => this._callNode(call, place, running));
    if (shown.length < calls.length) {
      say(this._more, `${WORDS.showAll} (${calls.length - shown.length} more calls)`);
      nodes.push(this._more);
    }
    return nodes;
  }

  private _callNode(call: CallRecord, place: number, running: ReadonlySet<string>): HTMLElement {
    const key = `now ${this._stepNumber}/call ${place}`;
    if (call.code !== undefined) {
      let code = this._codes.get(key);
      if (!code) {
        code = new NowCode(this._scene, key);
        this._codes.set(key, code);
      }
      code.update(call, running);
      return code.node;
    }
    const isRunning = running.has(call.id);
    const sign = `${call.id} ${isRunning} ${call.observation !== undefined} ${call.error !== undefined}`;
    const before = this._calls.get(key);
    const row = before?.sign === sign ? before.row : callRow(this._scene, key, call, isRunning);
    const node = before?.node ?? el('div', '');
    this._calls.set(key, { node, row, sign });
    const lane = this._lanes.nodeOf(call);
    toggleClass(node, 'has-lane', lane !== null);
    arrange(node, lane ? [row, lane] : [row]);
    return node;
  }
}
