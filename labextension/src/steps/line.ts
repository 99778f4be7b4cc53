/**
 * The parts of a step's line: number, titles, labels, figures.
 *
 * It must not know whether the step is open, nor what opens it.
 */
import type { AnyStepRecord } from '../protocol';
import { el } from './elements';
import type { Child } from './elements';
import { inSeconds, tokensTogether } from './figures';
import { titleNode } from './titleNode';
import { isStriking, labelsOf, titlesOf } from './titles';

export function lineParts(step: AnyStepRecord): Child[] {
  const isPlan = 'plan' in step;
  const labels = labelsOf(step);
  const figures = [tokensTogether(step.usage), inSeconds(step.duration_s)].filter(Boolean).join(' · ');
  return [
    el('span', 'number', isPlan ? '' : String(step.step_number)),
    titleNode(titlesOf(step)),
    labels.length > 0 && el('span', isStriking(step) ? 'labels is-striking' : 'labels', labels.join(' · ')),
    el('span', 'figures', figures)
  ];
}
