/**
 * What happens at the moment, in words: in short for the row of the step, with names for the line below the head.
 *
 * It must not make elements.
 */
import type { CallRecord, NowRecord } from '../protocol';
import type { RunStore } from './store';
import { oneLine } from './text';
import { DOING, WORDS } from './words';

const MOST_NAMES = 5;

/** `thinking`, `writing code`, `running code`. */
export function doingShortly(now: NowRecord): string {
  if (now.doing === 'thinking' && isWritingCode(now)) {
    return WORDS.writingCode;
  }
  return now.doing === 'calling' && isCodeRunning(now) ? WORDS.runningCode : DOING[now.doing];
}

/** `calling mean_price, look`, `running code, calling mean_price`, `paused (by you)`. */
export function doingWords(now: NowRecord): string {
  const reason = now.waiting ? oneLine(now.waiting.reason, 120) : '';
  switch (now.doing) {
    case 'calling':
      return callingWords(now);
    case 'waiting':
      return [now.waiting?.attempt ? WORDS.tryingAgain : DOING.waiting, reason && `(${reason})`].filter(Boolean).join(' ');
    case 'paused':
      return reason ? `${DOING.paused} (${reason})` : DOING.paused;
    case 'thinking':
    case 'planning':
      return now.writing?.length && !now.calls?.length
        ? `${WORDS.writingCall} ${oneLine(now.writing.at(-1)?.name ?? '', 60)}`
        : doingShortly(now);
    case 'asking':
      return DOING.asking;
  }
}

/** `5 s`: how long a run still waits before it tries again; empty if it does not, or nobody knows. */
export function waitWords(store: RunStore): string {
  const { now, nowAtMs } = store.run;
  const delayS = now?.waiting?.delay_s;
  if (now?.doing !== 'waiting' || delayS === null || delayS === undefined) {
    return '';
  }
  return `${Math.max(Math.ceil(delayS - store.sinceS(nowAtMs)), 0)} s`;
}

/** Whether the model writes code, which is not run yet. */
export function isWritingCode(now: NowRecord): boolean {
  return Boolean(now.code) && !now.calls?.length && !now.asked;
}

function callingWords(now: NowRecord): string {
  const running = new Set(now.running);
  const calls = (now.calls ?? []).flatMap(call => [call, ...(call.calls ?? [])]);
  const names = calls.filter(call => running.has(call.id) && call.code === undefined).map(call => oneLine(call.name, 60));
  const shown = [...new Set(names)].slice(0, MOST_NAMES).join(', ');
  const calling = shown && `${DOING.calling} ${shown}`;
  return isCodeRunning(now) ? [WORDS.runningCode, calling].filter(Boolean).join(', ') : calling || DOING.calling;
}

function isCodeRunning(now: NowRecord): boolean {
  const isRunning = (call: CallRecord): boolean => call.code !== undefined && now.running?.includes(call.id) === true;
  return now.calls?.some(isRunning) === true;
}
