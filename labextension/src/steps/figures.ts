/**
 * Figures in words: tokens, money, time, counts. Twin of those in `agent_magic/view/words.py`.
 *
 * It must not make elements.
 */
import type { UsageRecord } from '../protocol';

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `1,204`. */
export function grouped(number: number): string {
  return GROUPED.format(number);
}

/** `1 step`, `2 steps`. */
export function counted(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** `12 ms`, `4.2 s`, `3 min 20 s`. */
export function inSeconds(durationS: number): string {
  if (durationS < 0.1) {
    return `${(1000 * Math.max(durationS, 0)).toFixed(0)} ms`;
  }
  if (durationS < 60) {
    return `${durationS.toFixed(durationS < 10 ? 1 : 0)} s`;
  }
  const whole = Math.round(durationS);
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${grouped(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** As it ticks: whole seconds. */
export function ticking(durationS: number): string {
  return durationS < 60 ? `${Math.max(Math.floor(durationS), 0)} s` : inSeconds(Math.floor(durationS));
}

/** `1,204 tokens in (1,000 cached), 88 out (40 reasoning)`, or that they are unknown. */
export function tokens(usage: UsageRecord): string {
  if (usage.input_tokens === null && usage.output_tokens === null) {
    return 'tokens unknown';
  }
  const cached = usage.cached_tokens ? ` (${grouped(usage.cached_tokens)} cached)` : '';
  const reasoning = usage.reasoning_tokens ? ` (${grouped(usage.reasoning_tokens)} reasoning)` : '';
  return `${orUnknown(usage.input_tokens)} tokens in${cached}, ${orUnknown(usage.output_tokens)} out${reasoning}`;
}

/** `1,292 tokens`, for a closed step; empty if unknown. */
export function tokensTogether(usage: UsageRecord | undefined): string {
  if (!usage || (usage.input_tokens === null && usage.output_tokens === null)) {
    return '';
  }
  return counted((usage.input_tokens ?? 0) + (usage.output_tokens ?? 0), 'token');
}

/** `$0.0123`; `$0` is a price, an unknown one is said to be unknown. */
export function cost(usd: number | null): string {
  if (usd === null) {
    return 'cost unknown';
  }
  if (usd === 0) {
    return '$0';
  }
  if (usd >= 1) {
    return `$${usd.toFixed(2)}`;
  }
  return usd >= 0.0001 ? `$${String(Number(usd.toPrecision(2)))}` : 'under $0.0001';
}

/** Said where steps, calls or messages are left out. */
export function gap(nMissing: number, noun: string): string {
  return `… ${counted(nMissing, noun)} not shown here …`;
}

function orUnknown(number: number | null): string {
  return number === null ? 'unknown' : grouped(number);
}
