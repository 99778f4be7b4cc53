import { afterEach, describe, expect, it } from 'vitest';

import { numbered, openAll, priced, rowsOf, run, running, settled, show } from './samples';

afterEach(() => {
  document.body.replaceChildren();
});

const steps = (n: number): ReturnType<typeof priced>[] => Array.from({ length: n }, (_, i) => priced(i + 1));
const listOf = (element: Element): HTMLElement => element.querySelector('[role=list]') as HTMLElement;
const numberOf = (row: Element | null | undefined): string => row?.querySelector('.jp-AgentMagic-number')?.textContent ?? '';

/** jsdom lays nothing out: say how high the box is, and keep what it is scrolled to. */
function layOut(element: Element, px: number): HTMLElement {
  const list = listOf(element);
  Object.defineProperties(list, {
    clientHeight: { value: px, configurable: true },
    scrollHeight: {
      configurable: true,
      get: () => {
        const spaces = [...list.querySelectorAll<HTMLElement>('[role=presentation]')];
        return spaces.reduce((sum, space) => sum + parseFloat(space.style.height), 27 * rowsOf(list).length);
      }
    }
  });
  return list;
}

async function scrollTo(list: HTMLElement, px: number): Promise<void> {
  list.scrollTop = px;
  list.dispatchEvent(new Event('scroll'));
  await settled();
}

function press(key: string): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

describe('a long list', () => {
  it.each([1_000, 5_000])('of %i closed steps has at most 150 elements in the page', n => {
    const { element } = show(run({ steps: steps(n), n_steps: n }));
    expect(element.querySelectorAll('*').length).toBeLessThanOrEqual(150);
  });

  it('has as few while the run goes on', () => {
    const { element } = show(running({ step_number: 5_001, thought: 'so' }, { steps: steps(5_000), n_steps: 5_000 }));
    expect(element.querySelectorAll('*').length).toBeLessThanOrEqual(150);
  });

  it('says where each row is', () => {
    const { element } = show(run({ steps: steps(1_000) }));
    const [row] = rowsOf(element);
    expect([row?.getAttribute('aria-posinset'), row?.getAttribute('aria-setsize')]).toEqual(['1', '1000']);
  });

  it('draws what it is scrolled to', async () => {
    const { element } = show(run({ steps: steps(1_000) }));
    const list = layOut(element, 270);
    await scrollTo(list, 500 * 27);
    const numbers = rowsOf(list).map(numberOf);
    expect(numbers).toContain('501');
    expect(numbers).toContain('510');
    expect(numbers.length).toBeLessThan(20);
  });

  it('follows its end while the person is there, and no longer', async () => {
    const { element, store } = show(running({ step_number: 101 }, { steps: steps(100) }));
    const list = layOut(element, 270);
    store.take(numbered([{ kind: 'step', place: 100, step: priced(101) }])[0] as never);
    await settled();
    expect(numberOf(rowsOf(list).at(-2))).toBe('101');
    await scrollTo(list, 0);
    store.take(numbered([{ kind: 'step', place: 101, step: priced(102) }], 2)[0] as never);
    await settled();
    expect(numberOf(rowsOf(list)[0])).toBe('1');
    expect(list.scrollTop).toBe(0);
  });

  it('keeps a row open that was scrolled out of sight', async () => {
    const { element } = show(run({ steps: steps(1_000) }));
    const list = layOut(element, 270);
    rowsOf(list)[0]?.querySelector('button')?.click();
    await scrollTo(list, 500 * 27);
    expect(list.querySelector('.jp-AgentMagic-content')).toBeNull();
    await scrollTo(list, 0);
    expect(rowsOf(list)[0]?.querySelector('.jp-AgentMagic-content')).not.toBeNull();
  });

  it('keeps the focus in the list when its row goes out of sight', async () => {
    const { element } = show(run({ steps: steps(1_000) }));
    const list = layOut(element, 270);
    rowsOf(list)[0]?.querySelector('button')?.focus();
    await scrollTo(list, 500 * 27);
    expect(document.activeElement).toBe(list);
    press('ArrowDown');
    expect(numberOf(document.activeElement)).toBe('2');
  });
});

describe('a short list', () => {
  it('has no bounds and draws all', () => {
    const { element } = show(run({ steps: steps(30) }));
    expect(rowsOf(element)).toHaveLength(30);
    expect(listOf(element).className).not.toContain('is-bounded');
  });
});

describe('the keyboard', () => {
  it.each([
    ['ArrowDown', '2'],
    ['End', '1000'],
    ['Home', '1']
  ])('goes with %s to step %s', (key, number) => {
    const { element } = show(run({ steps: steps(1_000) }));
    layOut(element, 270);
    rowsOf(element)[0]?.querySelector('button')?.focus();
    press(key);
    expect(numberOf(document.activeElement)).toBe(number);
  });

  it('opens and closes with the arrows', () => {
    const { element } = show(run());
    rowsOf(element)[0]?.querySelector('button')?.focus();
    press('ArrowRight');
    expect(document.activeElement?.getAttribute('aria-expanded')).toBe('true');
    press('ArrowLeft');
    expect(document.activeElement?.getAttribute('aria-expanded')).toBe('false');
  });

  it('does not take the arrows away from a field', () => {
    const { element } = show(run());
    rowsOf(element)[0]?.querySelector('button')?.click();
    const select = rowsOf(element)[0]?.querySelector('select') as HTMLSelectElement;
    select.focus();
    press('ArrowDown');
    expect(document.activeElement).toBe(select);
  });

  it('reaches everything that can be done', () => {
    const { element } = show(running());
    openAll(element);
    const controls = [...element.querySelectorAll<HTMLElement>('button, select, input, textarea')];
    expect(controls.filter(control => control.tabIndex < 0)).toEqual([]);
    const nameless = controls.filter(
      control => !control.textContent && !control.closest('label') && !control.getAttribute('aria-label')
    );
    expect(nameless).toEqual([]);
  });
});
