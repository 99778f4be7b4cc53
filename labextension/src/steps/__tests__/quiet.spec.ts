/** A run that a person wanted quiet: header and answer, and the steps once they are asked for. */
import { describe, expect, it } from 'vitest';

import type { Snapshot } from '../../protocol';
import { RunStore } from '../store';
import { mountRun } from '../view';

const SNAPSHOT = {
  v: 1,
  n: 1,
  run: {
    version: 1,
    agent: 'analyst',
    status: 'answered',
    is_quiet: true,
    max_steps: 20,
    n_steps: 1,
    task: 'Which?',
    answer: { type: 'str', text: 'Oslo' },
    steps: [{ step_number: 1, duration_s: 0.1, thought: 'I think.' }]
  },
  settings: null,
  step: null
} as unknown as Snapshot;

describe('a quiet run', () => {
  it('shows its steps only once they are asked for', () => {
    const element = document.createElement('div');
    document.body.append(element);
    const store = new RunStore();
    store.reset(SNAPSHOT);
    const mounted = mountRun(element, store, null);
    expect(element.textContent).toContain('Oslo');
    expect(element.querySelectorAll('[role="listitem"]')).toHaveLength(0);
    const toggle = element.querySelector<HTMLButtonElement>('button[aria-expanded="false"]');
    expect(toggle?.textContent).toBe('Show the steps (1)');
    store.setOpen('steps', true);
    mounted.dispose();
    mountRun(element, store, null);
    expect(element.querySelectorAll('[role="listitem"]')).toHaveLength(1);
    expect(element.textContent).toContain('Hide the steps (1)');
  });
});
