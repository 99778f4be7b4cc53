import { afterEach, describe, expect, it } from 'vitest';

import type { RunRecord } from '../../protocol';
import { fromRecord } from '../record';
import { WORDS } from '../words';
import { buttonOf, openAll, previewFullOf, runFullOf, runningFullOf, show } from './samples';
import { ATTACKS } from './xss';

const BIDI_OR_CONTROL = /[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]/; // eslint-disable-line no-control-regex -- these are what must not be there

/** All elements that a view is made of. */
const OURS = /^(DIV|SPAN|BUTTON|PRE|CODE|LABEL|INPUT|SELECT|OPTION|TEXTAREA|TABLE|TBODY|TR|TH|TD) /;

const COLOURS =
  /^jp-AgentMagic-is-(keyword|number|definition|property|operator|comment|string|escape|meta)$/;

afterEach(() => {
  document.body.replaceChildren();
});

/** Every element in the page with the names of its attributes, and all values of attributes. */
function inventory(): { tags: string[]; values: string[] } {
  const tags: string[] = [];
  const values: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode() as Element | null; node; node = walker.nextNode() as Element | null) {
    const attributes = [...node.attributes];
    if (isColour(node)) {
      continue;
    }
    tags.push(`${node.tagName} ${attributes.map(({ name }) => name).join(' ')}`);
    values.push(...attributes.map(({ value }) => value));
  }
  return { tags: tags.sort(), values };
}

/** A word of code in its colour: other words have others, but all are texts in the same few elements. */
function isColour(node: Element): boolean {
  return node.matches('pre > span') && node.attributes.length === 1 && COLOURS.test(node.className) && !node.childElementCount;
}

async function drawn(record: RunRecord): Promise<ReturnType<typeof inventory>> {
  document.body.replaceChildren();
  const { element } = show(record, request =>
    request.verb === 'lens'
      ? { v: 1, ok: true, data: { normal: previewFullOf(record.task), summary: previewFullOf(record.task) } }
      : { v: 1, ok: false, error: record.task }
  );
  openAll(element);
  [...element.querySelectorAll('button')].filter(one => one.textContent === WORDS.edit).forEach(one => {
    one.click();
  });
  buttonOf(element, WORDS.more).click();
  buttonOf(element, WORDS.lensNext).click();
  await answered();
  openAll(element);
  buttonOf(element, WORDS.lensAgain).click();
  await answered();
  return inventory();
}

/** Until the kernel's answer is drawn; no frame is waited for, there are hundreds of attacks. */
async function answered(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 0));
}

/** The same texts, so that what differs is what they were made of. */
const kinds = {
  'a run that is over': runFullOf,
  'a run that goes on': runningFullOf
};

it('there are at least 100 attacks', () => {
  expect(new Set(ATTACKS).size).toBeGreaterThanOrEqual(100);
});

describe.each(Object.entries(kinds))('in every field of %s', (_kind, recordFullOf) => {
  it('no attack becomes an element, an attribute or a handler', async () => {
    /** Inventories of harmless texts of any shape: lines and length make blocks of some. */
    const harmless = new Set<string>();
    for (const attack of ATTACKS) {
      const attacked = await drawn(recordFullOf(attack));
      const made = JSON.stringify(attacked.tags);
      // Looked at now: the drawing below takes its place.
      expect(BIDI_OR_CONTROL.test(document.body.textContent ?? ''), attack).toBe(false);
      if (!harmless.has(made)) {
        const { tags } = await drawn(recordFullOf(disarmed(attack)));
        expect(attacked.tags, attack).toEqual(tags);
        harmless.add(JSON.stringify(tags));
      }
      expect(attacked.values.filter(value => /window\.hit|javascript:|onerror|<|data:/i.test(value)), attack).toEqual([]);
      expect(attacked.tags.filter(tag => / on/.test(tag))).toEqual([]);
      expect(attacked.tags.filter(tag => !OURS.test(tag))).toEqual([]);
    }
    expect((globalThis as { hit?: number }).hit).toBeUndefined();
  }, 300_000);
});

it('attacks are shown as the texts that they are', () => {
  const attack = '<img src=x onerror=window.hit=1>';
  const { element } = show(runFullOf(attack), null);
  openAll(element);
  expect((element.textContent?.split(attack).length ?? 0) - 1).toBeGreaterThan(30);
});

it.each(ATTACKS.slice(0, 40))('a record that is %j cannot be drawn, and does no harm', attack => {
  expect(fromRecord(attack)).toBeNull();
  expect(fromRecord({ version: attack, steps: attack })).toBeNull();
});

/** A text of the same shape (lines, length, what JSON escapes) without a sign that means anything. */
function disarmed(attack: string): string {
  return attack.replace(/[<>&'`=:/(){}[\]$#@%;!-]/g, 'x');
}
