import { afterEach, describe, expect, it } from 'vitest';

import type { AskedItemRecord, NowRecord, Reply } from '../../protocol';
import { WORDS } from '../words';
import { buttonOf, numbered, running, settled, show } from './samples';
import type { IShown } from './samples';

afterEach(() => {
  document.body.replaceChildren();
});

const CALL: AskedItemRecord = { id: 'i1', digest: 'd1', kind: 'call', name: 'send_mail', arguments: { to: 'anna', n: 2 } };
const PLAN: AskedItemRecord = { id: 'i2', digest: 'd2', kind: 'plan', plan: '1. Look.\n2. Answer.' };

const CODE: AskedItemRecord = { id: 'i3', digest: 'd3', kind: 'call', name: 'python', code: 'for x in xs:\n\tsend(x)' };

const asking = (...items: AskedItemRecord[]): NowRecord => ({ step_number: 3, doing: 'asking', asked: { id: 'q', items } });
const ask = (items: AskedItemRecord[], reply?: () => Reply | Promise<Reply>): IShown => show(running(asking(...items)), reply);
const cardOf = (element: Element): HTMLElement => element.querySelector('[role=group]') as HTMLElement;
const fieldOf = (element: Element): HTMLTextAreaElement => cardOf(element).querySelector('textarea') as HTMLTextAreaElement;

describe('an approval', () => {
  it('shows what is asked', () => {
    const { element } = ask([CALL, PLAN]);
    expect(cardOf(element).textContent).toBe(
      'Waiting for your approvalsend_mailto"anna"n2ApproveEditRejectPlan1. Look.\n2. Answer.ApproveEditRejectApprove all'
    );
  });

  it('is answered with the item and the digest of what was shown', async () => {
    const { element, requests } = ask([CALL], () => ({ v: 1, ok: true, effective: 'now' }));
    buttonOf(element, WORDS.approve).click();
    await settled();
    expect(requests).toEqual([{ verb: 'approve', item: 'i1', digest: 'd1' }]);
    expect(cardOf(element).textContent).toContain('approved: now');
  });

  it('cannot be answered twice', async () => {
    const { element, requests } = ask([CALL]);
    const approve = buttonOf(element, WORDS.approve);
    approve.click();
    approve.click();
    await settled();
    expect(requests).toHaveLength(1);
    expect(buttonOf(element, WORDS.approve).disabled).toBe(true);
    expect(buttonOf(element, WORDS.reject).disabled).toBe(true);
  });

  it('can be answered again when the kernel refuses, and says why', async () => {
    const { element } = ask([CALL], () => ({ v: 1, ok: false, error: 'Other arguments than were shown.' }));
    buttonOf(element, WORDS.approve).click();
    await settled();
    expect(cardOf(element).textContent).toContain('Other arguments than were shown.');
    expect(buttonOf(element, WORDS.approve).disabled).toBe(false);
  });

  it('is edited as JSON', async () => {
    const { element, requests } = ask([CALL]);
    buttonOf(element, WORDS.edit).click();
    expect(fieldOf(element).value).toBe('{\n  "to": "anna",\n  "n": 2\n}');
    fieldOf(element).value = '{"to": "berta"}';
    buttonOf(element, WORDS.sendEdited).click();
    await settled();
    expect(requests).toEqual([{ verb: 'edit', item: 'i1', digest: 'd1', arguments: { to: 'berta' } }]);
  });

  it.each(['{"to": ', '["anna"]', '3'])('is not sent while it is %s', async typed => {
    const { element, requests } = ask([CALL]);
    buttonOf(element, WORDS.edit).click();
    fieldOf(element).value = typed;
    buttonOf(element, WORDS.sendEdited).click();
    await settled();
    expect(requests).toEqual([]);
    expect(cardOf(element).querySelector('[role=alert]')?.textContent).not.toBe('');
    expect(fieldOf(element).value).toBe(typed);
  });

  it('of a plan is edited as text', async () => {
    const { element, requests } = ask([PLAN]);
    buttonOf(element, WORDS.edit).click();
    fieldOf(element).value = '1. Answer.';
    buttonOf(element, WORDS.sendEdited).click();
    await settled();
    expect(requests).toEqual([{ verb: 'edit', item: 'i2', digest: 'd2', plan: '1. Answer.' }]);
  });

  it.each([
    ['too early', { reason: 'too early' }],
    [' ', {}]
  ])('is rejected with the reason %j', async (typed, reason) => {
    const { element, requests } = ask([CALL]);
    buttonOf(element, WORDS.reject).click();
    fieldOf(element).value = typed;
    buttonOf(element, WORDS.rejectNow).click();
    await settled();
    expect(requests).toEqual([{ verb: 'reject', item: 'i1', digest: 'd1', ...reason }]);
  });

  it('of several is given to all that are open', async () => {
    const { element, requests } = ask([{ ...CALL, id: 'i0', verdict: 'rejected' }, CALL, PLAN]);
    buttonOf(element, WORDS.approveAll).click();
    await settled();
    expect(requests).toEqual([
      { verb: 'approve', item: 'i1', digest: 'd1' },
      { verb: 'approve', item: 'i2', digest: 'd2' }
    ]);
  });

  it.each([
    ['approved', 'approved'],
    ['edited', 'approved as edited'],
    ['rejected', 'rejected']
  ] as const)('that was %s says so and has no buttons', (verdict, words) => {
    const { element } = ask([{ ...CALL, verdict }]);
    expect(cardOf(element).querySelector('.jp-AgentMagic-verdict')?.textContent).toBe(words);
    expect(cardOf(element).querySelectorAll('button')).toHaveLength(0);
  });

  it('keeps what is typed while news come', async () => {
    const { element, store } = ask([CALL, PLAN]);
    buttonOf(element, WORDS.edit).click();
    const field = fieldOf(element);
    field.value = '{"to": "berta"';
    field.focus();
    const now = asking(CALL, { ...PLAN, verdict: 'approved' });
    store.take(numbered([{ kind: 'now', now }])[0] as never);
    await settled();
    expect(fieldOf(element)).toBe(field);
    expect(document.activeElement).toBe(field);
    expect(cardOf(element).textContent).toContain('approved');
  });

  it('is drawn anew for other arguments', async () => {
    const { element, store } = ask([CALL]);
    buttonOf(element, WORDS.edit).click();
    const now = asking({ ...CALL, digest: 'd9', arguments: { to: 'carla' } });
    store.take(numbered([{ kind: 'now', now }])[0] as never);
    await settled();
    expect(cardOf(element).textContent).toContain('"carla"');
    expect(fieldOf(element)).toBeNull();
  });

  it('of code shows it in lines and colours', () => {
    const { element } = ask([CODE]);
    expect(cardOf(element).textContent).toBe(
      'Waiting for your approvalCodefor x in xs:\n\tsend(x)CopyApproveEditReject'
    );
    expect(cardOf(element).querySelector('pre .jp-AgentMagic-is-keyword')?.textContent).toBe('for');
  });

  it('of code is edited as the code itself, in its place', async () => {
    const { element, requests } = ask([CODE]);
    buttonOf(element, WORDS.edit).click();
    const field = fieldOf(element);
    expect(document.activeElement).toBe(field);
    expect(field.closest('label')?.textContent).toBe('Code');
    expect(field.value).toBe('for x in xs:\n\tsend(x)');
    expect(cardOf(element).querySelector('pre')?.closest('[hidden]')).not.toBeNull();
    field.value = 'send("anna")';
    buttonOf(element, WORDS.sendEdited).click();
    await settled();
    expect(requests).toEqual([{ verb: 'edit', item: 'i3', digest: 'd3', arguments: { code: 'send("anna")' } }]);
  });

  it('of code takes Enter for a line, whatever the page around it makes of the key', () => {
    const { element } = ask([CODE]);
    buttonOf(element, WORDS.edit).click();
    const field = fieldOf(element);
    field.value = 'ab';
    field.setSelectionRange(1, 1);
    const heard: Event[] = [];
    element.addEventListener('keydown', event => heard.push(event));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    expect(field.value).toBe('a\nb');
    expect(field.selectionStart).toBe(2);
    expect(heard).toEqual([]);
  });

  it('of code shows the code again when an edit is left, and beside the reason for a refusal', () => {
    const { element } = ask([CODE]);
    const isShown = (): boolean => !cardOf(element).querySelector('pre')?.closest('[hidden]');
    buttonOf(element, WORDS.edit).click();
    buttonOf(element, WORDS.cancel).click();
    expect(isShown()).toBe(true);
    buttonOf(element, WORDS.reject).click();
    expect(isShown()).toBe(true);
  });

  it('of code is not sent without any', async () => {
    const { element, requests } = ask([CODE]);
    buttonOf(element, WORDS.edit).click();
    fieldOf(element).value = ' \n';
    buttonOf(element, WORDS.sendEdited).click();
    await settled();
    expect(requests).toEqual([]);
    expect(cardOf(element).querySelector('[role=alert]')?.textContent).toBe(WORDS.noCode);
  });

  it('of code shown in part cannot be edited', () => {
    const { element } = ask([{ ...CODE, is_partial: true }]);
    expect([...cardOf(element).querySelectorAll('.jp-AgentMagic-tools button')].map(one => one.textContent)).toEqual([
      'Approve',
      'Reject'
    ]);
  });

  it('is drawn anew for other code', async () => {
    const { element, store } = ask([CODE]);
    const now = asking({ ...CODE, digest: 'd9', code: 'other()' });
    store.take(numbered([{ kind: 'now', now }])[0] as never);
    await settled();
    expect(cardOf(element).querySelector('pre')?.textContent).toBe('other()');
  });

  it('shown in part cannot be edited', () => {
    const { element } = ask([{ ...CALL, is_partial: true }]);
    expect(cardOf(element).textContent).toContain(WORDS.isPartial);
    expect([...cardOf(element).querySelectorAll('button')].map(one => one.textContent)).toEqual(['Approve', 'Reject']);
  });

  it('has no buttons where there is no kernel to ask', () => {
    const { element } = show(running(asking(CALL, PLAN)), null);
    expect(cardOf(element).querySelectorAll('button')).toHaveLength(0);
  });
});
