/**
 * What stands in an opened step or plan, but for its tools: pure drawing of its record.
 *
 * It must not ask the kernel for anything.
 */
import type { AnyStepRecord, NoteRecord, PlanRecord, StepRecord } from '../protocol';
import { block, label, prose } from './block';
import { callNode, errorNode } from './call';
import { append, el, toggleClass } from './elements';
import { gap, grouped, inSeconds, tokens } from './figures';
import { firstOf, fold } from './fold';
import type { IScene } from './scene';
import { oneLine } from './text';
import { WORDS } from './words';

const FIRST_CALLS = 20;
const FIRST_LINES = 100;
const CHANGES: readonly (readonly [string, string])[] = [
  ['added ', 'is-added'],
  ['deleted ', 'is-deleted'],
  ['rebound ', 'is-rebound'],
  ['changed in place ', 'is-changed']
];

/** `key` says where it stands, for what is opened in it. */
export function stepBody(scene: IScene, key: string, step: AnyStepRecord): HTMLElement {
  const node = el('div', 'content', ...noteNodes(step.notes));
  if (step.reasoning) {
    append(node, reasoningFold(scene, key, step.reasoning));
  }
  if ('plan' in step) {
    addPlan(scene, key, node, step);
  } else {
    addAction(scene, key, node, step);
  }
  if (step.error) {
    append(node, errorNode(step.error));
  }
  const used = step.usage ? `${tokens(step.usage)} · ` : '';
  append(node, el('div', 'label', `${used}${inSeconds(step.duration_s)}`));
  return node;
}

/** What happened around a step, a line each. */
export function noteNodes(notes: NoteRecord[] | undefined): HTMLElement[] {
  return (notes ?? []).map(note =>
    note.is_warning ? el('div', 'warning', `⚠ ${note.text}`) : el('div', 'fine', note.text)
  );
}

export function reasoningFold(scene: IScene, key: string, reasoning: string): HTMLElement {
  return fold(scene, {
    key: `${key}/reasoning`,
    title: [el('span', 'label', WORDS.reasoning)],
    fill: body => {
      append(body, block(reasoning));
    }
  });
}

function addAction(scene: IScene, key: string, node: HTMLElement, step: StepRecord): void {
  if (step.thought) {
    append(node, label(WORDS.thought), prose(step.thought));
  }
  const calls = el('div', 'calls');
  toggleClass(calls, 'are-lanes', (step.calls ?? []).filter(call => call.run).length > 1);
  firstOf(
    calls,
    step.calls ?? [],
    FIRST_CALLS,
    (call, place) => callNode(scene, `${key}/call ${place}`, call),
    nMore => `${WORDS.showAll} (${grouped(nMore)} more calls)`
  );
  append(node, calls);
  if (step.calls_left_out) {
    append(node, label(gap(step.calls_left_out, 'call')));
  }
  if (step.changes?.length) {
    append(node, label(WORDS.changes), changesNode(step.changes, step.changes_left_out ?? 0));
  }
}

function changesNode(changes: string[], nLeftOut: number): HTMLElement {
  const node = el('div', 'changes');
  for (const change of changes.slice(0, FIRST_LINES)) {
    const kind = CHANGES.find(([verb]) => change.startsWith(verb));
    append(node, el('div', kind ? `change ${kind[1]}` : 'change', oneLine(change, 300)));
  }
  const nMore = nLeftOut + Math.max(changes.length - FIRST_LINES, 0);
  append(node, nMore > 0 && el('div', 'label', gap(nMore, 'change')));
  return node;
}

function addPlan(scene: IScene, key: string, node: HTMLElement, plan: PlanRecord): void {
  if (plan.plan) {
    append(node, prose(plan.plan));
  }
  if (plan.diff) {
    const { added, dropped, kept, n_added, n_dropped, n_kept } = plan.diff;
    append(
      node,
      diffNode(WORDS.added, 'is-added', added, n_added),
      diffNode(WORDS.dropped, 'is-deleted', dropped, n_dropped),
      n_kept > 0 &&
        fold(scene, {
          key: `${key}/kept`,
          title: [el('span', 'label', `${WORDS.kept} (${grouped(n_kept)})`)],
          fill: body => {
            append(body, ...lines(kept, n_kept));
          }
        })
    );
  }
  if (plan.original) {
    const { original } = plan;
    append(
      node,
      fold(scene, {
        key: `${key}/original`,
        title: [el('span', 'label', WORDS.asModelWrote)],
        fill: body => {
          append(body, block(original));
        }
      })
    );
  }
}

function diffNode(title: string, classes: string, texts: string[], n: number): HTMLElement | null {
  return n > 0 ? el('div', `diff ${classes}`, label(title), ...lines(texts, n)) : null;
}

function lines(texts: string[], n: number): HTMLElement[] {
  const shown = texts.slice(0, FIRST_LINES).map(text => el('div', '', oneLine(text, 300)));
  return n > shown.length ? [...shown, label(gap(n - shown.length, 'line'))] : shown;
}
