import { afterEach, describe, expect, it } from 'vitest';

import { WORDS } from '../words';
import { buttonOf, numbered, priced, rowsOf, run, running, SETTINGS, settled, show } from './samples';

afterEach(() => {
  document.body.replaceChildren();
});

const labelled = <T extends HTMLElement>(element: Element, words: string): T => {
  const found = [...element.querySelectorAll('label')].find(label => label.textContent.startsWith(words));
  return found?.querySelector('select, input') as T;
};
const said = (element: Element): string | undefined =>
  element.querySelector('.jp-AgentMagic-controls .jp-AgentMagic-said')?.textContent;

/** Type into a field and press Enter, as in JupyterLab: the change comes when the field is left. */
function enter(field: HTMLInputElement, value: string): void {
  field.value = value;
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  field.dispatchEvent(new Event('change'));
}

describe('what is seldom turned', () => {
  it('is folded away', () => {
    const { element } = show(running());
    expect(labelled(element, WORDS.approveBefore)).toBeUndefined();
    const more = buttonOf(element, WORDS.more);
    expect(more.getAttribute('aria-expanded')).toBe('false');
    more.click();
    expect(more.getAttribute('aria-expanded')).toBe('true');
    expect(labelled<HTMLSelectElement>(element, WORDS.approveBefore).selectedOptions[0]?.textContent).toBe('nothing');
    expect(labelled<HTMLInputElement>(element, WORDS.maxSteps).value).toBe('20');
    more.click();
    expect(labelled(element, WORDS.approveBefore)).toBeUndefined();
  });

  it('is set, and says from when on it holds', async () => {
    const { element, requests } = show(running(), () => ({ v: 1, ok: true, effective: 'from the next call' }));
    buttonOf(element, WORDS.more).click();
    const approve = labelled<HTMLSelectElement>(element, WORDS.approveBefore);
    approve.value = 'tools';
    approve.dispatchEvent(new Event('change'));
    await settled();
    expect(said(element)).toBe('Ask me before tool calls, also those that code makes: from the next call');
    enter(labelled(element, WORDS.maxSteps), '31');
    await settled();
    expect(said(element)).toBe('Step limit 31: from the next call');
    expect(requests).toEqual([
      { verb: 'set', name: 'approve', value: 'tools' },
      { verb: 'set', name: 'max_steps', value: 31 }
    ]);
  });

  it('can ask before nothing, code, tool calls or all of it, and says what each means', () => {
    const { element } = show(running());
    buttonOf(element, WORDS.more).click();
    const { options } = labelled<HTMLSelectElement>(element, WORDS.approveBefore);
    expect([...options].map(option => [option.value, option.textContent])).toEqual([
      ['never', 'nothing'],
      ['code', 'code, with the calls it makes'],
      ['tools', 'tool calls, also those that code makes'],
      ['all', 'code, tool calls and plans']
    ]);
  });

  it('shows what does not hold yet', async () => {
    const { element, store } = show(running());
    buttonOf(element, WORDS.more).click();
    const settings = { ...SETTINGS, max_steps: 40, pending: { max_steps: 'from step 4' } };
    store.take(numbered([{ kind: 'settings', settings }])[0] as never);
    await settled();
    expect(labelled<HTMLInputElement>(element, WORDS.maxSteps).value).toBe('40');
    const pending = [...element.querySelectorAll<HTMLElement>('.jp-AgentMagic-pending')].filter(node => !node.hidden);
    expect(pending.map(node => node.textContent)).toEqual(['from step 4']);
  });

  it('goes back to what holds when the kernel refuses', async () => {
    const { element } = show(running(), () => ({ v: 1, ok: false, error: 'max_steps is at least 3 now.' }));
    buttonOf(element, WORDS.more).click();
    const limit = labelled<HTMLInputElement>(element, WORDS.maxSteps);
    enter(limit, '2');
    await settled();
    expect(said(element)).toBe('max_steps is at least 3 now.');
    expect(limit.value).toBe('20');
  });
});

describe('a field for a number', () => {
  it('is taken by Enter, once', async () => {
    const { element, requests } = show(running());
    const planning = labelled<HTMLInputElement>(element, WORDS.replanning);
    planning.click();
    enter(labelled(element, WORDS.planEvery), '5');
    await settled();
    expect(requests).toEqual([
      { verb: 'set', name: 'planning_interval', value: 3 },
      { verb: 'set', name: 'planning_interval', value: 5 }
    ]);
  });

  it.each(['0', '', '1e9', '-3', 'x'])('with %j in it sends what holds, once', async given => {
    const { element, requests } = show(running());
    buttonOf(element, WORDS.more).click();
    enter(labelled(element, WORDS.maxSteps), given);
    await settled();
    expect(requests).toEqual([{ verb: 'set', name: 'max_steps', value: 20 }]);
  });
});

describe('undo', () => {
  const undoOf = (element: Element): HTMLButtonElement =>
    [...element.querySelectorAll('button')].find(one => one.textContent === WORDS.undo) as HTMLButtonElement;

  it('is there once a step was changed', async () => {
    const { element, store } = show(run());
    expect(undoOf(element).hidden).toBe(true);
    store.layOn(0, { is_pinned: true });
    await settled();
    expect(undoOf(element).hidden).toBe(false);
  });

  it('is there where somebody else has changed one', () => {
    const { element } = show(run({ steps: [{ ...priced(1), laid_on: { view: 'hidden' } }] }));
    expect(undoOf(element).hidden).toBe(false);
  });

  it('takes the changes back one by one, the last first', async () => {
    const { element, store, requests } = show(run());
    const texts = (): string[] => rowsOf(element).map(row => row.textContent);
    const before = texts();
    store.edit(0, { observations: { call_mean_price: '4' } });
    store.layOn(1, { view: 'hidden' });
    await settled();
    expect(texts()).not.toEqual(before);
    undoOf(element).click();
    await settled();
    expect(rowsOf(element)[1]?.textContent).toBe(before[1]);
    expect(rowsOf(element)[0]?.textContent).not.toBe(before[0]);
    undoOf(element).click();
    await settled();
    expect(texts()).toEqual(before);
    expect(undoOf(element).hidden).toBe(true);
    expect(requests).toEqual([{ verb: 'undo' }, { verb: 'undo' }]);
  });

  it('leaves it to the kernel to tell of the steps of a run that goes on', async () => {
    const { element, store } = show(running());
    store.layOn(0, { view: 'hidden' });
    await settled();
    undoOf(element).click();
    await settled();
    expect(rowsOf(element)[0]?.textContent).toContain('hidden from the model');
    store.take(numbered([{ kind: 'step', place: 0, step: priced(1) }])[0] as never);
    await settled();
    expect(rowsOf(element)[0]?.textContent).not.toContain('hidden from the model');
  });

  it('changes nothing when the kernel refuses', async () => {
    const { element, store } = show(run(), () => ({ v: 1, ok: false, error: 'There is no change to take back.' }));
    store.layOn(0, { view: 'hidden' });
    await settled();
    undoOf(element).click();
    await settled();
    expect(said(element)).toBe('There is no change to take back.');
    expect(rowsOf(element)[0]?.textContent).toContain('hidden from the model');
  });
});
