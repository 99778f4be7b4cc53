/**
 * How a run stands, in a word framed in its colour.
 *
 * It must not know where it stands on the page.
 */
import type { RunHead, Status } from '../protocol';
import { el, named, say } from './elements';
import { STATUS } from './words';

const COLOURS: Record<Status, string> = {
  answered: 'is-green',
  failed: 'is-red',
  max_steps: 'is-amber',
  interrupted: 'is-amber',
  budget: 'is-amber',
  running: 'is-blue'
};

type Standing = Pick<RunHead, 'status' | 'max_steps'>;

/** The chip of a run. */
export function statusChip(head: Standing): HTMLElement {
  const chip = el('span', 'chip');
  sayStatus(chip, head);
  return chip;
}

/** Let a chip say how a run stands now. */
export function sayStatus(chip: HTMLElement, head: Standing): void {
  say(chip, head.status === 'max_steps' ? `step limit of ${head.max_steps} reached` : STATUS[head.status]);
  chip.className = named(`chip ${COLOURS[head.status]}`);
}
