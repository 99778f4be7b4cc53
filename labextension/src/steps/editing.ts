/**
 * What becomes of a step that a person edits.
 *
 * It must not decide what may be edited: the kernel does, and has agreed by then.
 */
import type { AnyStepRecord, CallRecord, Json, StepChanges } from '../protocol';

/** A copy of `step` with other texts or arguments. */
export function editedStep(step: AnyStepRecord, changes: StepChanges): AnyStepRecord {
  const laid_on = { ...step.laid_on, edited_by: 'person' };
  if ('plan' in step) {
    if (changes.plan === undefined) {
      return { ...step, laid_on };
    }
    const { error: _error, diff: _diff, n_items: _items, ...rest } = step;
    return { ...rest, plan: changes.plan, original: step.original ?? step.plan, laid_on };
  }
  return {
    ...step,
    ...(changes.model_output === undefined ? {} : { thought: changes.model_output }),
    ...(step.calls ? { calls: step.calls.map(call => editedCall(call, changes)) } : {}),
    laid_on
  };
}

function editedCall(call: CallRecord, changes: StepChanges): CallRecord {
  const observation = own(changes.observations, call.id);
  const edited = { ...call, ...asked(call, own(changes.arguments, call.id)) };
  if (observation === undefined) {
    return edited;
  }
  return call.error
    ? { ...edited, error: { ...call.error, message: observation } }
    : { ...edited, observation };
}

/** Code is the one argument of its call. */
function asked(call: CallRecord, given: { [name: string]: Json } | undefined): Partial<CallRecord> {
  if (!given) {
    return {};
  }
  if (call.code === undefined) {
    return { arguments: given };
  }
  return typeof given.code === 'string' ? { code: given.code } : {};
}

function own<T>(mapping: { [name: string]: T } | undefined, name: string): T | undefined {
  return mapping && Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}
