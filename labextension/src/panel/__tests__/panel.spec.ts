import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { afterEach, describe, expect, it, vi } from 'vitest';

import type { AgentSnapshot, Reply, RequestBody } from '../../protocol';
import type { IModel } from '../../steps/model';
import { ATTACKS } from '../../steps/__tests__/xss';
import { agentDrawing } from '../drawing';
import { mountAgent } from '../panel';
import { AgentStore } from '../store';
import { PANEL } from '../words';

const FILE = resolve(import.meta.dirname, '../../../../tests/view/wire/agent.json');
const AGENT = JSON.parse(readFileSync(FILE, 'utf8')) as AgentSnapshot;
const ACCEPTED: Reply = { v: 1, ok: true, effective: 'from the next call' };

afterEach(() => {
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

interface IShown {
  element: HTMLElement;
  store: AgentStore;
  sent: RequestBody[];
}

function show(agent: unknown = AGENT, reply: ((request: RequestBody) => Reply) | null = () => ACCEPTED): IShown {
  const element = document.createElement('div');
  document.body.append(element);
  const store = new AgentStore();
  store.reset(agent);
  const sent: RequestBody[] = [];
  const ask =
    reply &&
    ((request: RequestBody): Promise<Reply> => {
      sent.push(request);
      return Promise.resolve(reply(request));
    });
  mountAgent(element, store, ask);
  return { element, store, sent };
}

/** The next frame was drawn, and answers have arrived. */
async function settled(): Promise<void> {
  await new Promise(done => setTimeout(done, 40));
}

function section(element: Element, heading: string): HTMLElement {
  const found = [...element.querySelectorAll<HTMLElement>('.jp-AgentMagic-panel-section')].find(node =>
    node.textContent.startsWith(heading)
  );
  if (!found) {
    throw new Error(`no section ${heading}`);
  }
  return found;
}

/** Open everything that can be opened, again and again. */
function openAll(element: Element): void {
  for (let i = 0; i < 4; i++) {
    element.querySelectorAll<HTMLElement>('button[aria-expanded="false"]').forEach(toggle => {
      toggle.click();
    });
  }
}

function labelled<T extends Element>(element: Element, label: string): T {
  const found = element.querySelector<T>(`[aria-label="${label}"]`);
  if (!found) {
    throw new Error(`nothing is labelled ${label}`);
  }
  return found;
}

function choose(select: HTMLSelectElement, value: string): void {
  select.value = value;
  select.dispatchEvent(new Event('change'));
}

function enter(field: HTMLInputElement, value: string): void {
  field.value = value;
  field.dispatchEvent(new Event('change'));
}

function buttonOf(element: Element, words: string): HTMLButtonElement {
  const found = [...element.querySelectorAll('button')].find(one => one.textContent === words && !one.hidden);
  if (!found) {
    throw new Error(`no button ${words}`);
  }
  return found;
}

const said = (element: Element): string =>
  [...element.querySelectorAll('.jp-AgentMagic-said')].map(node => node.textContent).join('');

describe('what is shown', () => {
  it('lists the mode among the settings', () => {
    const settings = { mode: 'code', max_steps: 20, imports: 'scipy' };
    const { element } = show({ ...AGENT, agent: { ...AGENT.agent, settings } });
    expect(element.querySelector('.jp-AgentMagic-head .jp-AgentMagic-fine')?.textContent).toBe('mode code · imports scipy');
  });

  it('is the head, the settings, the memory and how much there is of state and tools', () => {
    const { element } = show();
    expect(element.querySelector('.jp-AgentMagic-head')?.textContent).toBe(
      'analystlast run answeredscriptedmax_tool_threads 128 · state all'
    );
    expect(
      [...element.querySelectorAll('.jp-AgentMagic-panel-heading')].map(node => node.textContent)
    ).toEqual([
      'Settings',
      'Memory2 runs · 5 steps · 1 hidden',
      'State2 names · all variables',
      'Tools2 tools⚠ 2 weak points'
    ]);
  });

  it('is the last run with a line for each step, and earlier runs closed', () => {
    const memory = section(show().element, 'Memory');
    const runs = [...memory.querySelectorAll('.jp-AgentMagic-panel-run')];
    expect(runs.map(run => [run.textContent, run.getAttribute('aria-expanded')])).toEqual([
      ['What is the mean price in Oslo?answered2 steps', 'false'],
      ['Look at <b>Atlantis</b>.answered3 steps', 'true']
    ]);
    const lines = [...memory.querySelectorAll('[role=listitem] .jp-AgentMagic-step-line')];
    expect(lines.map(line => line.textContent)).toEqual([
      'TaskLook at <b>Atlantis</b>.',
      'Plan: 2 steps',
      "1mean_price(city=\"Atlantis\") ✗ ToolExecutionError: mean_price raised KeyError: 'Atlantis'",
      '2look(at="<script>alert(1)</script>") → <b><script>alert(1)</script></b>',
      '3final_answer(answer="</details><b>bold</b>")',
      'Answer</details><b>bold</b>'
    ]);
  });

  it('is what is laid upon a step, in its controls', () => {
    const { element } = show();
    expect(labelled<HTMLSelectElement>(element, 'Model sees: Step 1').value).toBe('hidden');
    expect(labelled(element, 'Pin: Step 2').getAttribute('aria-pressed')).toBe('true');
    expect(labelled(element, 'Pin: Step 3').getAttribute('aria-pressed')).toBe('false');
  });

  it('is what is laid upon a step in words, where there are no controls', () => {
    const { element } = show(AGENT, null);
    expect(element.querySelectorAll('select, input')).toHaveLength(0);
    expect(element.textContent).not.toContain(PANEL.settings);
    expect(element.querySelector('.jp-AgentMagic-head')?.textContent).toContain('planning_interval 9');
    const labels = [...element.querySelectorAll('.jp-AgentMagic-labels')].map(node => node.textContent);
    expect(labels).toEqual(['hidden from the model', 'pinned']);
  });

  it('is what the model is told of a tool, and what is weak about it', () => {
    const { element } = show();
    const tools = section(element, 'Tools');
    tools.querySelector('button')?.click();
    openAll(tools);
    expect(tools.querySelector('.jp-AgentMagic-panel-body')?.textContent).toBe(
      'mean_priceMean price of the listings in a city.' +
        'What the model is toldMean price of the listings in a city.Parameterscitystringname as in the tableroomsinteger = 0at least so many' +
        'look<img src=x onerror=alert(1)>⚠ 2 weak points' +
        "⚠ Tool 'look': parameter 'at' has no type hint, so any value is taken. Add one to its signature, e.g.  at: str" +
        "⚠ Tool 'look': parameter 'at' has no description. Add to its docstring:  at: what it means" +
        'What the model is told<img src=x onerror=alert(1)>Parametersatany'
    );
  });

  it('is each name of the state with its type and a preview', () => {
    const state = section(show().element, 'State');
    state.querySelector('button')?.click();
    expect([...state.querySelectorAll('th')].map(node => node.textContent)).toEqual(['listings', 'note']);
    expect(state.textContent).toContain("str, 21 characters  '<svg onload=alert(1)>'");
  });

  it('says what to do where there is nothing', () => {
    const { element } = show({ v: 1, id: 'agent-1' });
    openAll(element);
    for (const words of [PANEL.noMemory, PANEL.noNames, PANEL.noTools, PANEL.notRun]) {
      expect(element.textContent).toContain(words);
    }
  });

  it('tells of tools that are gone, and why there are none', () => {
    const { element } = show({ ...AGENT, tools: [], tools_missing: ['wait'], tools_error: 'Two tools have one name.' });
    const tools = section(element, 'Tools');
    tools.querySelector('button')?.click();
    expect(tools.textContent).toBe(
      'Tools0 tools⚠ cannot be read  ⚠ 1 gone⚠ Two tools have one name.⚠ wait is gone: its variable was deleted'
    );
  });

  it.each([null, 'text', { v: 2, id: 'x' }, { v: 0 }, []])('says so of %j, which cannot be read', data => {
    expect(show(data).element.textContent).toBe(PANEL.newer);
  });

  it('says that it is not told of changes any more', async () => {
    const { element, store } = show();
    store.setLive(false);
    await settled();
    expect(element.querySelector('.jp-AgentMagic-notice')?.textContent).toBe(PANEL.gone);
  });

  it('is bounded for a long run, and all of it on demand', () => {
    const steps = Array.from({ length: 300 }, (_, place) => ({
      place,
      kind: 'action' as const,
      step_number: place + 1,
      title: `add(${place})`
    }));
    const { element } = show({ ...AGENT, runs: [{ task: 'Add', status: 'running', steps }], steps_left_out: 1_200 });
    expect(element.textContent).toContain('… 1,200 older steps not shown here …');
    expect(element.querySelectorAll('[role=listitem]')).toHaveLength(40);
    buttonOf(element, 'Show all (260 older steps)').click();
    expect(element.querySelectorAll('[role=listitem]')).toHaveLength(300);
  });
});

describe('what can be turned', () => {
  it('is each setting, and the answer says from when on it holds', async () => {
    const { element, sent } = show();
    const settings = section(element, 'Settings');
    const [mode, approve] = [...settings.querySelectorAll('select')];
    if (!mode || !approve) {
      throw new Error('no choices');
    }
    choose(mode, 'all');
    choose(approve, 'tools');
    enter(labelled(settings, 'Steps between plans'), '4');
    enter(labelled(settings, 'Step limit'), '31');
    settings.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
    await settled();
    expect(sent).toEqual([
      { verb: 'set', name: 'summary_mode', value: 'all' },
      { verb: 'set', name: 'approve', value: 'tools' },
      { verb: 'set', name: 'planning_interval', value: 4 },
      { verb: 'set', name: 'max_steps', value: 31 },
      { verb: 'set', name: 'planning_interval', value: null }
    ]);
    expect(said(settings)).toBe('Replanning off: from the next call');
  });

  it('goes back to what holds when it is refused', async () => {
    const { element } = show(AGENT, () => ({ v: 1, ok: false, error: 'Give a whole number.' }));
    const limit = labelled<HTMLInputElement>(element, 'Step limit');
    enter(limit, '31');
    await settled();
    expect(limit.value).toBe('20');
    expect(said(element)).toBe('Give a whole number.');
  });

  it('is taken by Enter, once', async () => {
    const { element, sent } = show();
    const limit = labelled<HTMLInputElement>(element, 'Step limit');
    limit.value = '31';
    limit.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    limit.dispatchEvent(new Event('change'));
    await settled();
    expect(sent).toEqual([{ verb: 'set', name: 'max_steps', value: 31 }]);
  });

  it.each(['0', '', '1e9', '-3'])('a step limit of %j is none: what holds is sent again', async given => {
    const { element, sent } = show();
    enter(labelled(element, 'Step limit'), given);
    await settled();
    expect(sent).toEqual([{ verb: 'set', name: 'max_steps', value: 20 }]);
  });

  it('stops, pauses and replans only while a run goes on', async () => {
    const { element, store, sent } = show();
    expect(() => buttonOf(element, 'Stop')).toThrow();
    expect(() => buttonOf(element, 'Pause')).toThrow();
    store.reset({ ...AGENT, is_running: true });
    await settled();
    for (const words of ['Stop', 'Pause', 'Replan now']) {
      buttonOf(element, words).click();
    }
    store.reset({ ...AGENT, is_running: true, settings: { ...AGENT.settings, is_paused: true } });
    await settled();
    buttonOf(element, 'Go on').click();
    expect(sent.map(request => request.verb)).toEqual(['stop', 'pause', 'replan_now', 'go_on']);
  });

  it('says which settings do not hold yet', async () => {
    const { element, store } = show();
    const pending = { planning_interval: 'from step 4' };
    store.reset({ ...AGENT, settings: { ...AGENT.settings, pending } });
    await settled();
    const shown = [...element.querySelectorAll<HTMLElement>('.jp-AgentMagic-pending')].filter(node => !node.hidden);
    expect(shown.map(node => node.textContent)).toEqual(['from step 4']);
  });

  it('is the view of a step and its pin', async () => {
    const { element, sent } = show();
    choose(labelled(element, 'Model sees: Step 3'), 'summary');
    choose(labelled(element, 'Model sees: Step 1'), '');
    labelled<HTMLElement>(element, 'Pin: Step 2').click();
    labelled<HTMLElement>(element, 'Pin: Task').click();
    await settled();
    expect(sent).toEqual([
      { verb: 'set_view', place: 9, view: 'summary' },
      { verb: 'set_view', place: 7, view: null },
      { verb: 'set_pinned', place: 8, value: false },
      { verb: 'set_pinned', place: 5, value: true }
    ]);
  });

  it('goes back to the view that holds when it is refused', async () => {
    const { element } = show(AGENT, () => ({ v: 1, ok: false, error: 'No.' }));
    const view = labelled<HTMLSelectElement>(element, 'Model sees: Step 1');
    choose(view, 'full');
    await settled();
    expect(view.value).toBe('hidden');
  });

  it('opens the lens of the next call, and of a step', async () => {
    const { element, sent } = show();
    buttonOf(element, 'What the model gets next').click();
    element.querySelectorAll<HTMLElement>('[role=listitem] .jp-AgentMagic-step-line')[2]?.click();
    buttonOf(element, 'What the model got').click();
    await settled();
    expect(sent).toEqual([
      { verb: 'lens', place: null, kind: 'act' },
      { verb: 'lens', place: 7 }
    ]);
  });
});

describe('when the agent has changed', () => {
  it('a step that stays is the same element, open as it was', async () => {
    const { element, store } = show();
    const line = element.querySelectorAll<HTMLElement>('[role=listitem] .jp-AgentMagic-step-line')[3];
    line?.click();
    const runs = AGENT.runs.map(run => ({ ...run, steps: [...run.steps] }));
    runs[1]?.steps.push({ place: 11, kind: 'action', step_number: 4, title: 'new()' });
    store.reset({ ...AGENT, runs });
    await settled();
    expect(line?.isConnected).toBe(true);
    expect(line?.getAttribute('aria-expanded')).toBe('true');
    expect(element.textContent).toContain('new()');
  });

  it('what somebody types stays', async () => {
    const { element, store } = show();
    const limit = labelled<HTMLInputElement>(element, 'Step limit');
    limit.focus();
    limit.value = '4';
    store.reset({ ...AGENT, settings: { ...AGENT.settings, max_steps: 33 } });
    await settled();
    expect(limit.value).toBe('4');
  });

  it('nothing is drawn after it was taken out of the page', async () => {
    const element = document.createElement('div');
    const store = new AgentStore();
    store.reset(AGENT);
    mountAgent(element, store, null).dispose();
    store.reset({ ...AGENT, is_running: true });
    await settled();
    expect(element.childNodes).toHaveLength(0);
  });
});

describe('untrusted texts', () => {
  const filled = (value: unknown, words: string): unknown => {
    if (typeof value === 'string') {
      return words;
    }
    if (Array.isArray(value)) {
      return value.map(item => filled(item, words));
    }
    return value && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, KEPT.has(name) ? item : filled(item, words)]))
      : value;
  };
  /** Words of the wire. */
  const KEPT = new Set(['kind', 'status', 'last_status', 'view', 'scope', 'summary_mode', 'approve']);

  it('become no element, attribute or handler', () => {
    for (const attack of ATTACKS) {
      document.body.replaceChildren();
      const { element } = show(filled({ ...AGENT, settings: { ...AGENT.settings, pending: { approve: attack } } }, attack));
      openAll(element);
      expect(
        element.querySelectorAll('script, style, link, iframe, object, embed, svg, math, a, form, img, base, meta, details, b')
      ).toHaveLength(0);
      const all = [...element.getElementsByTagName('*')];
      const attributes = all.flatMap(node => [...node.attributes]);
      expect(attributes.filter(({ name }) => name.startsWith('on'))).toEqual([]);
      expect(attributes.filter(({ value }) => /window\.hit|javascript:|onerror|<|data:/i.test(value)), attack).toEqual([]);
    }
    expect((globalThis as { hit?: number }).hit).toBeUndefined();
  }, 120_000);
});

describe('as a widget', () => {
  function modelOf(state: Record<string, unknown>): IModel & { sent: unknown[]; emit: (event: string, ...given: unknown[]) => void } {
    const listeners = new Map<string, Set<(...given: unknown[]) => void>>();
    const sent: unknown[] = [];
    return {
      sent,
      get: name => state[name],
      on: (event, callback) => {
        listeners.set(event, (listeners.get(event) ?? new Set()).add(callback));
      },
      off: (event, callback) => {
        listeners.get(event)?.delete(callback);
      },
      send: content => {
        sent.push(content);
      },
      emit: (event, ...given) => {
        listeners.get(event)?.forEach(callback => {
          callback(...given);
        });
      }
    };
  }

  it('asks over its comm where there is no bridge, and takes the answer', async () => {
    const model = modelOf({ kind: 'agent', snapshot: AGENT, nonce: 'n', kernel_id: '', is_live: true });
    const drawing = agentDrawing();
    const el = document.createElement('div');
    drawing.initialize({ model });
    drawing.render({ model, el });
    enter(labelled(el, 'Step limit'), '31');
    const { request } = model.sent[0] as { request: Record<string, unknown> };
    expect(request).toMatchObject({ v: 1, verb: 'set', value: 31, nonce: 'n', run_id: 'agent-1' });
    model.emit('msg:custom', { v: 1, kind: 'reply', id: request.id, reply: ACCEPTED });
    await settled();
    expect(said(el)).toBe('Step limit 31: from the next call');
  });

  it('is drawn again from each new snapshot, in every view', async () => {
    const state = { kind: 'agent', snapshot: AGENT, nonce: 'n', kernel_id: '', is_live: true };
    const model = modelOf(state);
    const drawing = agentDrawing();
    const els = [document.createElement('div'), document.createElement('div')];
    const end = drawing.initialize({ model });
    els.forEach(el => drawing.render({ model, el }));
    state.snapshot = { ...AGENT, is_running: true };
    model.emit('change:snapshot');
    await settled();
    expect(els.map(el => el.querySelector('.jp-AgentMagic-chip')?.textContent)).toEqual(['running', 'running']);
    end();
    state.snapshot = AGENT;
    model.emit('change:snapshot');
    await settled();
    expect(els[0]?.querySelector('.jp-AgentMagic-chip')?.textContent).toBe('running');
  });

  it('has no controls without a nonce', () => {
    const model = modelOf({ kind: 'agent', snapshot: AGENT, nonce: '', kernel_id: '', is_live: true });
    const drawing = agentDrawing();
    const el = document.createElement('div');
    drawing.initialize({ model });
    drawing.render({ model, el });
    expect(el.querySelectorAll('select, input')).toHaveLength(0);
  });
});
