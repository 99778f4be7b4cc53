/**
 * The run of a managed agent under the call that it was made for: a line that opens, and its steps.
 *
 * It must not draw a run that goes on: `nowLane` does.
 */
import type { AnyStepRecord, LaneRecord } from '../protocol';
import { stepBody } from './body';
import { append, el } from './elements';
import type { Child } from './elements';
import { counted, gap, inSeconds, tokensTogether } from './figures';
import { firstOf, fold } from './fold';
import { lineParts } from './line';
import type { IScene } from './scene';
import { statusChip } from './status';
import { oneLine } from './text';
import { titlesOf } from './titles';
import { VERIFIED, WORDS } from './words';

/** So many of its steps stand in the page, unless a person wants all. */
export const FIRST_STEPS = 30;
const AGENT_CHARS = 60;

/** A run that has ended; `key` says where it stands, for what is opened in it. */
export function laneNode(scene: IScene, key: string, lane: LaneRecord): HTMLElement {
  return fold(scene, {
    key,
    classes: 'lane',
    isOpen: true,
    title: laneTitle(lane),
    fill: body => {
      const steps = stepList();
      const { steps_left_out: nLeftOut } = lane;
      const gapAt = Math.floor(lane.steps.length / 3);
      firstOf(
        steps,
        lane.steps,
        FIRST_STEPS,
        (step, place) => {
          const row = laneStep(scene, `${key}/step ${place}`, step);
          return nLeftOut && place === gapAt ? both(gapNode(nLeftOut), row) : row;
        },
        nMore => `${WORDS.showAll} (${counted(nMore, 'more step')})`,
        body
      );
      if (!lane.steps.length && nLeftOut) {
        append(steps, gapNode(nLeftOut));
      }
      body.prepend(steps);
    }
  });
}

/** The place where the steps of a managed agent stand. */
export function stepList(): HTMLElement {
  const node = el('div', 'lane-steps');
  node.setAttribute('role', 'list');
  node.setAttribute('aria-label', WORDS.laneSteps);
  return node;
}

/** One step: a line that opens. */
export function laneStep(scene: IScene, key: string, step: AnyStepRecord): HTMLElement {
  const hasFault = titlesOf(step).some(title => title.isError);
  const row = fold(scene, {
    key,
    classes: hasFault ? 'lane-step has-fault' : 'lane-step',
    title: lineParts(step),
    fill: body => {
      append(body, stepBody(scene, key, step));
    }
  });
  row.setAttribute('role', 'listitem');
  return row;
}

/** Said where steps are left out. */
export function gapNode(nLeftOut: number): HTMLElement {
  const node = el('div', 'label', gap(nLeftOut, 'step'));
  node.setAttribute('role', 'listitem');
  return node;
}

/** The name of a managed agent, as it stands on the line of its run. */
export function agentNode(agent: string): HTMLElement {
  return el('span', 'lane-agent', oneLine(agent, AGENT_CHARS));
}

function laneTitle(lane: LaneRecord): Child[] {
  const figures = [counted(lane.n_steps, 'step'), tokensTogether(lane.usage), inSeconds(lane.duration_s)];
  const { verified = 'unchecked' } = lane;
  return [
    agentNode(lane.agent),
    statusChip(lane),
    verified !== 'unchecked' &&
      el('span', `chip ${verified === 'yes' ? 'is-green' : 'is-amber'}`, VERIFIED[verified]),
    el('span', 'fine', figures.filter(Boolean).join(' · '))
  ];
}

function both(...nodes: Node[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...nodes);
  return fragment;
}
