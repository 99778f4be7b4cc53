/**
 * What happens now, as news of it come: texts that grow, and those that stay over a change.
 *
 * It must not know the page, nor the rest of the run.
 */
import type { NowRecord, TextMessage } from '../protocol';

const MOST_CALLS = 10_000;

/** What happens now after `now` was told: the texts of the same step stay, they are told apart. */
export function continued(now: NowRecord | null, before: NowRecord | null): NowRecord | null {
  if (!now || now.step_number !== before?.step_number) {
    return now;
  }
  const { thought, code, plan, reasoning, writing } = before;
  return {
    ...(thought === undefined ? {} : { thought }),
    ...(code === undefined ? {} : { code }),
    ...(plan === undefined ? {} : { plan }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(writing === undefined ? {} : { writing }),
    ...now
  };
}

/** Let a text of `now` grow; false if it is none that is known. */
export function grow(now: NowRecord, message: TextMessage): boolean {
  const grown = (text = ''): string => text.slice(0, Number(message.at)) + message.add;
  switch (message.field) {
    case 'thought':
    case 'code':
    case 'plan':
    case 'reasoning':
      now[message.field] = grown(now[message.field]);
      return true;
    case 'arguments':
      growArguments(now, message, grown);
      return true;
    default:
      return false;
  }
}

function growArguments(now: NowRecord, message: TextMessage, grown: (text?: string) => string): void {
  const place = message.call ?? 0;
  if (!Number.isSafeInteger(place) || place < 0 || place >= MOST_CALLS) {
    return;
  }
  const writing = (now.writing ??= []);
  while (writing.length <= place) {
    writing.push({ name: '', arguments: '' });
  }
  const before = writing[place];
  const name = typeof message.name === 'string' ? message.name : (before?.name ?? '');
  writing[place] = { name, arguments: grown(before?.arguments) };
}
