import { afterEach, describe, expect, it } from 'vitest';

import type { PreviewRecord, Reply } from '../../protocol';
import { WORDS } from '../words';
import { buttonOf, previewFullOf, priced, rowsOf, run, settled, show } from './samples';
import type { IShown } from './samples';

afterEach(() => {
  document.body.replaceChildren();
});

const NORMAL: PreviewRecord = {
  ...previewFullOf('x'),
  is_past: true,
  is_exact: true,
  is_new_run: false,
  messages: [
    { number: 1, role: 'system', parts: [{ text: 'You are an agent.' }], tokens: 12 },
    { number: 2, role: 'user', parts: [{ text: 'How heavy?' }], tokens: 300, is_estimate: true, is_new: true },
    { number: 5, role: 'assistant', parts: [], calls: [{ id: 'c', name: 'look', arguments: '{}' }] }
  ],
  n_messages: 5,
  n_kept: 1,
  n_before: 2,
  tools: [{ name: 'look', description: 'Look at it.\nWell.', parameters: '{"type": "object"}' }],
  tools_left_out: 0,
  options: { temperature: 0 }
};
const SUMMARY: PreviewRecord = { ...NORMAL, summary_mode: true, is_other_view: true, messages: NORMAL.messages.slice(1) };

async function look(reply: () => Reply): Promise<IShown> {
  const shown = show(run({ steps: [priced(1), priced(2)] }), reply);
  rowsOf(shown.element)[1]?.querySelector('button')?.click();
  buttonOf(shown.element, WORDS.lensStep).click();
  await settled();
  return shown;
}

const views = (element: Element): HTMLElement[] => [...element.querySelectorAll<HTMLElement>('.jp-AgentMagic-lens-view')];

describe('the lens', () => {
  it('asks for the call of a step and shows both views', async () => {
    const { element, requests } = await look(() => ({ v: 1, ok: true, data: { normal: NORMAL, summary: SUMMARY } }));
    expect(requests).toEqual([{ verb: 'lens', place: 1 }]);
    expect(views(element).map(view => view.textContent)).toEqual([
      'normal viewSent for an action, step 25 messages · ≈ 377 tokens · 5% of a window of 8,000' +
        '1 as in the call before, 4 new, 1 of that call changed or gone' +
        'rebuilt, and the same as what was sentoptions: temperature 0' +
        '1systemYou are an agent.in this view only12' +
        '2userHow heavy?new≈ 300' +
        '… 2 messages not shown here …5assistantcalls look1 tool · 40 tokens',
      'summary viewNot sent for an action, step 2: the same moment in the other view' +
        '5 messages · ≈ 377 tokens · 5% of a window of 8,000' +
        '1 as in the call before, 4 new, 1 of that call changed or gone' +
        'rebuilt, and the same as what was sentoptions: temperature 0' +
        '… 1 message not shown here …2userHow heavy?new≈ 300' +
        '… 2 messages not shown here …5assistantcalls look1 tool · 40 tokens'
    ]);
  });

  it('opens a message and the tools', async () => {
    const { element } = await look(() => ({ v: 1, ok: true, data: { normal: NORMAL, summary: SUMMARY } }));
    const [view] = views(element);
    view?.querySelectorAll<HTMLElement>('[aria-expanded=false]').forEach(line => {
      line.click();
    });
    view?.querySelectorAll<HTMLElement>('[aria-expanded=false]').forEach(line => {
      line.click();
    });
    expect([...(view?.querySelectorAll('pre') ?? [])].map(box => box.textContent)).toEqual([
      'You are an agent.',
      'How heavy?',
      '{}',
      '{"type": "object"}'
    ]);
  });

  it('warns of what is not quite what was sent', async () => {
    const { element } = await look(() => ({
      v: 1,
      ok: true,
      data: { normal: previewFullOf('x'), summary: previewFullOf('x') }
    }));
    expect([...(views(element)[0]?.querySelectorAll('.jp-AgentMagic-warning') ?? [])].map(one => one.textContent)).toEqual([
      `⚠ ${WORDS.notExact}`,
      `⚠ ${WORDS.hasRedacted}`
    ]);
  });

  it('asks for the next call of a kind', async () => {
    const { element, requests } = show(run(), () => ({ v: 1, ok: true, data: { normal: NORMAL, summary: SUMMARY } }));
    buttonOf(element, WORDS.lensNext).click();
    await settled();
    const kinds = element.querySelector('.jp-AgentMagic-lens-box select') as HTMLSelectElement;
    kinds.value = 'plan';
    kinds.dispatchEvent(new Event('change'));
    await settled();
    expect(requests).toEqual([
      { verb: 'lens', place: null, kind: 'act' },
      { verb: 'lens', place: null, kind: 'plan' }
    ]);
    buttonOf(element, WORDS.lensNext).click();
    expect(element.querySelector('.jp-AgentMagic-lens-box')).toBeNull();
  });

  it.each([null, 3, {}, { normal: NORMAL }, { normal: NORMAL, summary: 'x' }])('says that it cannot show %j', async data => {
    const { element } = await look(() => ({ v: 1, ok: true, data }));
    expect(element.textContent).toContain(WORDS.lensUnreadable);
  });

  it('says why the kernel refuses', async () => {
    const { element } = await look(() => ({ v: 1, ok: false, error: 'The kernel does not know this view.' }));
    expect(element.textContent).toContain('The kernel does not know this view.');
  });
});
