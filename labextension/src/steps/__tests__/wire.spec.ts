import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import type { Message, RunRecord, Snapshot } from '../../protocol';
import { readHead, readNow, readSettings, readStep } from '../readers';
import { RunStore } from '../store';
import { mountRun } from '../view';
import { WORDS } from '../words';
import { openAll } from './samples';

const FOLDER = resolve(import.meta.dirname, '../../../../tests/view/wire');

interface IFixture {
  snapshot: Snapshot | null;
  messages: Message[];
}

const FIXTURES = readdirSync(FOLDER)
  .filter(name => name.endsWith('.json'))
  .map((name): [string, IFixture] => [name, JSON.parse(readFileSync(resolve(FOLDER, name), 'utf8')) as IFixture])
  .filter(([, fixture]) => Array.isArray(fixture.messages)); // other widgets have none

afterEach(() => {
  document.body.replaceChildren();
});

it('the kernel has written fixtures', () => {
  expect(FIXTURES.length).toBeGreaterThan(0);
});

/** What a message says of a run, or of one inside it. */
function innermost(message: Message): Message {
  return message.kind === 'lane' ? innermost(message.message) : message;
}

describe.each(FIXTURES)('what the kernel sends (%s)', (_name, { snapshot, messages }) => {
  it('is understood, and drawn at every moment', () => {
    const store = new RunStore();
    if (snapshot) {
      store.reset(snapshot);
    }
    mountRun(document.body, store, null);
    for (const message of messages) {
      store.take(message);
      expect(store.run.isNewer, JSON.stringify(message)).toBe(false);
      expect(store.run.nMissed, JSON.stringify(message)).toBe(0);
    }
    openAll(document.body);
    expect(document.body.textContent).toContain(store.run.head.agent);
    expect(document.body.textContent).not.toContain(WORDS.newer);
    const blank = [...document.querySelectorAll('[role=listitem], pre, [class*=chip]')].filter(
      node => !node.textContent?.trim()
    );
    expect(blank).toEqual([]);
    expect(/undefined|\[object|NaN/.test(document.body.textContent ?? '')).toBe(false);
  });

  it('has no field that is not known here', () => {
    for (const outer of messages) {
      const message = innermost(outer);
      const isOfLane = outer.kind === 'lane';
      switch (message.kind) {
        case 'head':
        case 'end': {
          const { memory: _memory, journal: _journal, ...head } = message.head as Partial<RunRecord>;
          // A head without steps need not say how many are left out; that of a run inside has less to say.
          expect(readHead(head)).toEqual({ steps_left_out: 0, ...(isOfLane ? readHead({}) : {}), ...head });
          break;
        }
        case 'step':
          expect(readStep(message.step)).toEqual(message.step);
          break;
        case 'now':
          expect(message.now && readNow(message.now)).toEqual(message.now);
          break;
        case 'settings':
          expect(readSettings(message.settings)).toEqual(message.settings);
          break;
        case 'text':
        case 'totals':
        case 'lane':
          break;
      }
    }
  });
});
