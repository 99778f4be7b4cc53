/**
 * Every fixed word that the panel of an agent says beside those of a run. It must not make elements.
 */
import type { PanelStepRecord, StepView } from '../protocol';
import { STATUS } from '../steps/words';

export const SEEN_CHOICES: readonly (readonly [StepView | '', string])[] = [
  ['', 'as the agent says'],
  ['full', 'full'],
  ['summary', 'summary'],
  ['hidden', 'hidden']
];
export const KINDS: Record<PanelStepRecord['kind'], string> = {
  task: 'Task',
  plan: 'Plan',
  action: 'Step',
  answer: 'Answer'
};
export const LAST_STATUS = { ...STATUS, max_steps: 'reached its step limit', budget: 'used up its budget' };

export const PANEL = {
  examples: 'Examples',
  goneTool: 'is gone: its variable was deleted',
  gone: 'This panel is not told of changes any more, so nothing can be changed here. Show the agent again in a cell.',
  memory: 'Memory',
  modeHint: 'Which calls read the short form of earlier steps. Holds from the next call.',
  newer: 'This agent cannot be read: it is of a newer agent_magic. Update it: pip install -U agent-magic',
  noMemory: 'Nothing yet. What the agent does in its runs is remembered here.',
  noNames: 'No names yet. The agent may use what a task mentions with @, what --tools gives, and what it makes.',
  noParameters: 'No parameters',
  noTools: 'No tools. Give it functions: %%agent --tools name,name',
  notRun: 'not run yet',
  optional: 'optional',
  parameters: 'Parameters',
  pin: 'Pin',
  settings: 'Settings',
  state: 'State',
  tools: 'Tools',
  toolTold: 'What the model is told',
  weak: 'weak point',
  weakTitle: 'What makes it hard to use for a model'
} as const;
