/**
 * A saved run as something to draw. It must not trust it: notebooks come from anywhere.
 */
import { PROTOCOL_VERSION, RECORD_VERSION } from '../protocol';
import type { AnyStepRecord, Snapshot } from '../protocol';
import { readHead, readNow, readStep } from './readers';
import { isObject } from './reading';

/** A snapshot of a record; null if it is of a newer version, or none that can be read. */
export function fromRecord(data: unknown): Snapshot | null {
  const head = readHead(data);
  if (!head || !isObject(data) || head.version < 1 || head.version > RECORD_VERSION) {
    return null;
  }
  const given = Array.isArray(data.steps) ? (data.steps as unknown[]) : [];
  const steps = given.map(readStep).filter((step): step is AnyStepRecord => step !== undefined);
  const now = head.status === 'running' ? readNow(data.now) : undefined;
  return {
    v: PROTOCOL_VERSION,
    n: 0,
    run: { ...head, steps, ...(now ? { now } : {}) },
    settings: null,
    step: null
  };
}
