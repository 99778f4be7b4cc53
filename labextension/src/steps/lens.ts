/**
 * The lens: exactly what the model gets in a call, in the normal and the summary view, side by side.
 *
 * It asks the kernel when it is opened, and again on demand. It must not rebuild a request by itself.
 */
import type { MessageRecord, PreviewRecord, RequestKind, SentToolRecord } from '../protocol';
import { asked, Said } from './asking';
import { block, label, prose } from './block';
import { append, button, choice, el } from './elements';
import { gap } from './figures';
import { firstOf } from './fold';
import {
  firstWords,
  lensDifference,
  lensFigures,
  lensRemarks,
  lensTitle,
  lensWarnings,
  messageLabels,
  messageTokens,
  onlyHere,
  toolLine,
  toolsTitle
} from './lensTitles';
import { readViews } from './previewReader';
import type { Ask } from './scene';
import { oneLine } from './text';
import { LENS_KINDS, WORDS } from './words';

const FIRST_MESSAGES = 60;

export class Lens {
  /** Empty while it is closed. */
  readonly node = el('div', 'lens-frame');
  readonly button: HTMLButtonElement;
  private readonly _said = new Said();
  private readonly _views = el('div', 'lens');
  private _kind: RequestKind = 'act';

  /** `place` is that of a step, or null: the next call. */
  constructor(
    private readonly _ask: Ask,
    private readonly _place: number | null,
    words: string
  ) {
    this.button = button(words, 'button', () => {
      this._toggle();
    });
    this.button.title = WORDS.lensHint;
    this.button.setAttribute('aria-expanded', 'false');
  }

  get isOpen(): boolean {
    return this.node.hasChildNodes();
  }

  private _toggle(): void {
    const isOpen = !this.isOpen;
    this.button.setAttribute('aria-expanded', String(isOpen));
    this.node.replaceChildren();
    if (!isOpen) {
      this._views.replaceChildren();
      return;
    }
    const again = button(WORDS.lensAgain, 'button is-quiet', () => {
      void this._load();
    });
    const kinds =
      this._place === null &&
      choice<RequestKind>(WORDS.lensKind, LENS_KINDS, kind => {
        this._kind = kind;
        void this._load();
      });
    if (kinds) {
      kinds.setAttribute('aria-label', WORDS.lensKind);
    }
    append(this.node, el('div', 'lens-box', el('div', 'tools', kinds, again, this._said.node), this._views));
    void this._load();
  }

  private async _load(): Promise<void> {
    const kind = this._place === null ? { kind: this._kind } : {};
    const reply = await asked(this._ask, { verb: 'lens', place: this._place, ...kind }, this._said, '');
    if (!reply || !this.isOpen) {
      return;
    }
    const views = readViews(reply.data);
    if (!views) {
      this._said.say(WORDS.lensUnreadable, true);
      return;
    }
    this._said.say('');
    this._views.replaceChildren(viewNode(views[0], views[1]), viewNode(views[1], views[0]));
  }
}

function viewNode(preview: PreviewRecord, other: PreviewRecord): HTMLElement {
  const chip = preview.summary_mode
    ? el('span', 'chip is-amber', WORDS.summaryView)
    : el('span', 'chip is-blue', WORDS.normalView);
  const node = el(
    'div',
    'lens-view',
    el('div', 'lens-head', chip, el('span', 'lens-title', lensTitle(preview))),
    el('div', 'fine', lensFigures(preview)),
    el('div', 'fine', lensDifference(preview)),
    ...lensRemarks(preview).map(line => el('div', 'fine', line)),
    ...lensWarnings(preview).map(line => el('div', 'warning', `⚠ ${line}`))
  );
  const special = onlyHere(preview, other);
  let expected = 1;
  firstOf(
    node,
    preview.messages,
    FIRST_MESSAGES,
    message => {
      const missing = message.number - expected;
      expected = message.number + 1;
      const row = messageNode(message, special.has(message.number));
      if (missing <= 0) {
        return row;
      }
      const both = document.createDocumentFragment();
      both.append(label(gap(missing, 'message')), row);
      return both;
    },
    nMore => `${WORDS.showAll} (${nMore} more messages)`
  );
  append(node, preview.tools.length > 0 && toolsNode(preview));
  return node;
}

function messageNode(message: MessageRecord, isOnlyHere: boolean): HTMLElement {
  const labels = messageLabels(message, isOnlyHere);
  return opening(
    message.is_new ? 'lens-row is-new' : 'lens-row',
    [
      el('span', 'number', String(message.number)),
      el('span', 'role', oneLine(message.role, 40)),
      el('span', 'title', firstWords(message)),
      labels.length > 0 && el('span', 'labels', labels.join(' · ')),
      el('span', 'figures', messageTokens(message))
    ],
    body => {
      append(body, message.call_id !== undefined && label(`answers call ${oneLine(message.call_id, 80)}`));
      for (const part of message.parts) {
        append(body, part.is_image ? label(`${WORDS.image}: ${oneLine(part.text, 300)}`) : block(part.text));
      }
      for (const call of message.calls ?? []) {
        append(
          body,
          el('div', 'call-head', el('code', 'call-name', oneLine(call.name, 80)), el('span', 'label', call.id)),
          block(call.arguments)
        );
      }
    }
  );
}

function toolsNode(preview: PreviewRecord): HTMLElement {
  return opening('lens-row', [el('span', 'role', toolsTitle(preview))], body => {
    append(body, ...preview.tools.map(toolNode));
    append(body, preview.tools_left_out > 0 && label(gap(preview.tools_left_out, 'tool')));
  });
}

function toolNode(tool: SentToolRecord): HTMLElement {
  return opening(
    'lens-row',
    [
      el('code', 'call-name', oneLine(tool.name, 60)),
      el('span', 'title', toolLine(tool)),
      tool.is_redacted && el('span', 'labels', 'redacted')
    ],
    body => {
      append(body, prose(tool.description), block(tool.parameters));
    }
  );
}

/** A line that opens; what is opened here is not kept: the next answer is another. */
function opening(
  classes: string,
  line: Parameters<typeof el>[2][],
  fill: (body: HTMLElement) => void
): HTMLElement {
  const toggle = el('button', 'step-line', ...line);
  toggle.type = 'button';
  toggle.setAttribute('aria-expanded', 'false');
  const node = el('div', classes, toggle);
  toggle.addEventListener('click', () => {
    const isOpen = toggle.getAttribute('aria-expanded') !== 'true';
    toggle.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) {
      const body = el('div', 'fold-body');
      fill(body);
      node.append(body);
    } else {
      node.lastChild?.remove();
    }
  });
  return node;
}
