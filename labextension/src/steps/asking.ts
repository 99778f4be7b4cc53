/**
 * Asks the kernel and says what became of it: from when on it holds, why it was refused, that the
 * kernel is busy.
 *
 * It must not know who sends the request, nor which control it is for.
 */
import type { AcceptedReply, RequestBody } from '../protocol';
import { el, say, toggleClass } from './elements';
import { cutBefore } from './text';
import type { Ask } from './scene';
import { WORDS } from './words';

/** A kernel that has not answered by then is busy with the cell. */
export const BUSY_MS = 1_000;
const LONGEST_SAID = 2_000;

/** The line in which the answers stand; screen readers read it out. */
export class Said {
  readonly node = el('span', 'said');

  constructor() {
    this.node.setAttribute('role', 'status');
    this.node.setAttribute('aria-live', 'polite');
  }

  say(words: string, isError = false): void {
    say(this.node, cutBefore(words, LONGEST_SAID));
    toggleClass(this.node, 'is-error', isError);
  }
}

/**
 * Send a request; null if it was refused or could not be sent, which is said by then.
 *
 * `what` is told with the answer: `Replanning: from step 4`.
 */
export async function asked(
  ask: Ask,
  request: RequestBody,
  said: Said,
  what: string
): Promise<AcceptedReply | null> {
  said.say('…');
  const timer = setTimeout(() => {
    said.say(WORDS.busy);
  }, BUSY_MS);
  try {
    const reply = await ask(request);
    if (reply.ok) {
      said.say(reply.effective ? `${what}: ${reply.effective}` : what);
      return reply;
    }
    said.say(reply.error, true);
  } catch (error) {
    // Who sends says in the error's text what to do.
    said.say(error instanceof Error && error.message ? error.message : WORDS.noAnswer, true);
  } finally {
    clearTimeout(timer);
  }
  return null;
}
