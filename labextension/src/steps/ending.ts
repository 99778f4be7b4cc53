/**
 * How a run ended: its error, its answer, and what the checks said.
 *
 * It must not draw the status: `header` does.
 */
import type { AnswerRecord, CheckRecord, RunHead } from '../protocol';
import { block, copyable, label } from './block';
import { errorNode } from './call';
import { append, el } from './elements';
import { oneLine } from './text';
import { WORDS } from './words';

/** Panels below the steps; none while there is nothing to say. */
export function endingNodes(head: RunHead): HTMLElement[] {
  const panels: HTMLElement[] = [];
  if (head.error) {
    panels.push(el('div', `panel ${head.status === 'failed' ? 'is-red' : 'is-amber'}`, errorNode(head.error)));
  }
  const checks = checkNodes(head.checks ?? []);
  if (head.answer) {
    panels.push(answerNode(head, head.answer, checks));
  } else if (checks.length) {
    panels.push(el('div', 'panel is-amber', ...checks));
  }
  return panels;
}

function answerNode(head: RunHead, answer: AnswerRecord, checks: HTMLElement[]): HTMLElement {
  const isSound = head.status === 'answered' && head.verified !== 'no';
  const type = answerType(answer);
  const title = isSound
    ? WORDS.answer
    : head.status === 'answered'
      ? WORDS.answerRefused
      : WORDS.bestGuess;
  const node = el('div', `panel ${isSound ? 'is-green' : 'is-amber'}`, el('div', 'label', type ? `${title} · ${type}` : title));
  if (answer.type === 'NoneType') {
    append(node, el('div', 'answer', WORDS.answerIsNone));
  } else if (!answer.text) {
    append(node, label(WORDS.empty));
  } else {
    append(node, type ? block(answer.text) : copyable(el('div', 'answer', answer.text), answer.text));
  }
  append(node, ...checks);
  return node;
}

/** Type and shape; empty for text. */
function answerType(answer: AnswerRecord): string {
  if (answer.type === 'str' || answer.type === 'NoneType') {
    return '';
  }
  return oneLine(answer.shape ? `${answer.type}, ${answer.shape}` : answer.type, 120);
}

/** Which checks passed, on one line; each that refused, with its reason. */
function checkNodes(checks: CheckRecord[]): HTMLElement[] {
  const passed = checks.filter(check => check.passed).map(check => oneLine(check.name, 80));
  const nodes = passed.length
    ? [el('div', 'fine', `${passed.length === 1 ? 'Check' : 'Checks'} passed: ${passed.join(', ')}`)]
    : [];
  for (const check of checks.filter(one => !one.passed)) {
    const reason = oneLine(check.reason ?? '', 600) || WORDS.noReason;
    nodes.push(el('div', 'warning', `⚠ Check refused: ${oneLine(check.name, 80)}: ${reason}`));
  }
  return nodes;
}
