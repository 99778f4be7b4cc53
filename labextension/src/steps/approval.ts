/**
 * The card that asks a person: what is to be done, and Approve, Edit, Reject for each part of it.
 *
 * An answer carries the digest of what was shown. It must not decide whether an answer counts: the
 * kernel does, and its refusal is shown.
 */
import type { AskedItemRecord, AskedRecord, RequestBody } from '../protocol';
import { asked, Said } from './asking';
import { codeBlock, prose } from './block';
import { area, editableArguments, parseArguments } from './editor';
import { append, arrange, button, el, say } from './elements';
import type { IScene } from './scene';
import { oneLine } from './text';
import { argumentsNode } from './values';
import { VERDICTS, WORDS } from './words';

/** The card of one question; it stays the same while the question does, so nothing typed is lost. */
export class ApprovalCard {
  readonly node = el('div', 'approval');
  private readonly _items: ItemCard[];
  private readonly _all: HTMLElement | null;

  constructor(
    private readonly _scene: IScene,
    readonly question: AskedRecord
  ) {
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', WORDS.approvalTitle);
    this._items = question.items.map((item, place) => new ItemCard(_scene, `asked/${place}`, item));
    this._all =
      _scene.ask && question.items.length > 1
        ? button(WORDS.approveAll, 'button', () => {
            this._items.forEach(item => {
              item.approve();
            });
          })
        : null;
    append(
      this.node,
      el('div', 'approval-title', WORDS.approvalTitle),
      ...this._items.map(item => item.node),
      this._all && el('div', 'tools', this._all)
    );
    this.update(question);
  }

  /** Show the verdicts so far. */
  update(question: AskedRecord): void {
    for (const card of this._items) {
      card.update(question.items.find(item => item.id === card.item.id) ?? card.item);
    }
    if (this._all) {
      this._all.hidden = this._items.filter(item => item.isOpen).length < 2;
    }
  }

  /** Whether this card is of a question. */
  isOf(question: AskedRecord): boolean {
    const sign = ({ id, items }: AskedRecord): string =>
      JSON.stringify([id, items.map(item => [item.id, item.digest])]);
    return this._scene.store.isRunning && sign(question) === sign(this.question);
  }
}

class ItemCard {
  readonly node = el('div', 'approval-item');
  private readonly _said = new Said();
  private readonly _verdict = el('span', 'verdict');
  private readonly _tools = el('div', 'tools');
  private readonly _asked: HTMLElement[];
  private _form: HTMLElement | null = null;
  private _isEditingCode = false;
  private _isSent = false;

  constructor(
    private readonly _scene: IScene,
    private readonly _key: string,
    public item: AskedItemRecord
  ) {
    this._asked = this._askedParts();
    append(this.node, ...this._asked, item.is_partial && el('div', 'fine', WORDS.isPartial), this._tools);
  }

  get isOpen(): boolean {
    return !this.item.verdict && !this._isSent;
  }

  update(item: AskedItemRecord): void {
    this.item = item;
    say(this._verdict, item.verdict ? VERDICTS[item.verdict] : '');
    this._draw();
  }

  approve(): void {
    if (this.isOpen) {
      const { id, digest } = this.item;
      void this._answer({ verb: 'approve', item: id, digest }, VERDICTS.approved);
    }
  }

  private _askedParts(): HTMLElement[] {
    const { item } = this;
    const whose = item.agent !== undefined && el('span', 'label', `of ${oneLine(item.agent, 60)}`);
    if (item.kind === 'plan') {
      return [el('div', 'call-head', el('span', 'call-name', WORDS.plan), whose), prose(item.plan ?? '')];
    }
    if (item.code !== undefined) {
      return [el('div', 'call-head', el('span', 'call-name', WORDS.code), whose), codeBlock(item.code)];
    }
    const values = argumentsNode(this._scene, this._key, item.arguments ?? {});
    const head = el('div', 'call-head', el('code', 'call-name', oneLine(item.name ?? '', 80)), whose);
    return values ? [head, values] : [head];
  }

  private _draw(): void {
    const canAnswer = this._scene.ask !== null && !this.item.verdict;
    const tools = canAnswer
      ? [
          button(WORDS.approve, 'button is-main', () => {
            this.approve();
          }),
          ...(this.item.is_partial
            ? []
            : [
                button(WORDS.edit, 'button', () => {
                  this._open(this._editForm());
                })
              ]),
          button(WORDS.reject, 'button', () => {
            this._open(this._rejectForm());
          })
        ]
      : [];
    tools.forEach(tool => {
      tool.disabled = this._isSent;
    });
    for (const part of this._asked) {
      part.hidden = this._isEditingCode && this._form !== null && canAnswer; // it stands in the form
    }
    // While a form is open its own buttons answer.
    arrange(this._tools, [
      ...(this._form && canAnswer ? [this._form] : this._keptTools(tools)),
      this._verdict,
      this._said.node
    ]);
  }

  private _buttons: HTMLButtonElement[] = [];

  /** The same buttons as long as they mean the same, so that the focus stays. */
  private _keptTools(tools: HTMLButtonElement[]): HTMLButtonElement[] {
    if (this._buttons.length !== tools.length) {
      this._buttons = tools;
    }
    this._buttons.forEach(tool => {
      tool.disabled = this._isSent;
    });
    return this._buttons;
  }

  private _open(form: HTMLElement): void {
    this._form = form;
    this._draw();
    const field = form.querySelector('textarea');
    field?.focus();
    field?.setSelectionRange(0, 0); // what was asked is read from its begin
  }

  private readonly _close = (): void => {
    this._form = null;
    this._draw();
    this._buttons[0]?.focus();
  };

  private _editForm(): HTMLElement {
    const { id, digest } = this.item;
    const { label, text, read } = editable(this.item);
    this._isEditingCode = this.item.code !== undefined;
    const { node, field } = area(label, text, { isCode: this._isEditingCode });
    return this._formOf(node, WORDS.sendEdited, () => {
      const given = read(field.value);
      return typeof given === 'string' ? given : { verb: 'edit', item: id, digest, ...given };
    });
  }

  private _rejectForm(): HTMLElement {
    const { id, digest } = this.item;
    const { node, field } = area(WORDS.reason, '');
    this._isEditingCode = false;
    return this._formOf(node, WORDS.rejectNow, () => {
      const reason = field.value.trim();
      return { verb: 'reject', item: id, digest, ...(reason ? { reason } : {}) };
    });
  }

  /** `read` gives the request, or what is wrong with what was typed. */
  private _formOf(part: HTMLElement, words: string, read: () => RequestBody | string): HTMLElement {
    const fault = el('div', 'said is-error');
    fault.setAttribute('role', 'alert');
    const send = button(words, 'button is-main', () => {
      const request = read();
      say(fault, typeof request === 'string' ? request : '');
      if (typeof request !== 'string') {
        send.disabled = true;
        void this._answer(request, words).finally(() => {
          send.disabled = false;
        });
      }
    });
    return el('div', 'form', part, fault, el('div', 'tools', send, button(WORDS.cancel, 'button', this._close)));
  }

  private async _answer(request: RequestBody, what: string): Promise<void> {
    const { ask } = this._scene;
    if (!ask || this._isSent) {
      return;
    }
    this._isSent = true;
    this._draw();
    const reply = await asked(ask, request, this._said, what);
    this._isSent = reply !== null;
    if (reply) {
      this._form = null;
    }
    this._draw();
  }
}

type Edited = Pick<Extract<RequestBody, { verb: 'edit' }>, 'arguments' | 'plan'>;

interface IEditable {
  label: string;
  text: string;
  /** What was typed as the part of a request, or what is wrong with it. */
  read: (typed: string) => Edited | string;
}

/** What can be edited of an item: a plan, code, or arguments as JSON. */
function editable(item: AskedItemRecord): IEditable {
  if (item.kind === 'plan') {
    return { label: WORDS.plan, text: item.plan ?? '', read: plan => ({ plan }) };
  }
  if (item.code !== undefined) {
    const read = (code: string): Edited | string => (code.trim() ? { arguments: { code } } : WORDS.noCode);
    return { label: WORDS.code, text: item.code, read };
  }
  const read = (typed: string): Edited | string => {
    const given = parseArguments(typed);
    return typeof given === 'string' ? given : { arguments: given };
  };
  return { label: WORDS.argumentsOf, text: editableArguments(item.arguments ?? {}), read };
}
