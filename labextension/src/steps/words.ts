/**
 * Every fixed word that a view says, in English. Twin of `agent_magic/view/words.py` where both say it.
 *
 * It must not make elements, nor read a record: sentences with figures in them are made in
 * `figures.ts` and `titles.ts`.
 */
import type { Approve, Doing, Form, RequestKind, Status, StepView, SummaryMode, Verdict } from '../protocol';

export const STATUS: Record<Status, string> = {
  running: 'running',
  answered: 'answered',
  max_steps: 'step limit reached',
  interrupted: 'interrupted',
  failed: 'failed',
  budget: 'budget used up'
};
export const VERIFIED = { yes: 'checks passed', no: 'check refused', unchecked: 'unchecked' } as const;
export const DOING: Record<Doing, string> = {
  thinking: 'thinking',
  planning: 'planning',
  calling: 'calling',
  waiting: 'waiting',
  paused: 'paused',
  asking: 'waiting for your approval'
};
export const FORMS: Record<Form, string> = {
  whole: 'sent whole',
  no_images: 'sent without images',
  short_observations: 'sent shortened: observation',
  line: 'sent as one line',
  left_out: 'not sent'
};
export const VIEWS: Record<StepView, string> = {
  full: 'full view',
  summary: 'summary view',
  hidden: 'hidden from the model'
};
export const VERDICTS: Record<Verdict, string> = {
  approved: 'approved',
  edited: 'approved as edited',
  rejected: 'rejected'
};
export const PURPOSES: Record<RequestKind, string> = {
  act: 'for an action',
  plan: 'for a plan',
  final: 'for a last answer'
};

export const VIEW_CHOICES: readonly (readonly [StepView | '', string])[] = [
  ['', 'as the agent says'],
  ['full', 'full'],
  ['summary', 'summary'],
  ['hidden', 'hidden']
];
export const APPROVE_CHOICES: readonly (readonly [Approve, string])[] = [
  ['never', 'nothing'],
  ['code', 'code, with the calls it makes'],
  ['tools', 'tool calls, also those that code makes'],
  ['all', 'code, tool calls and plans']
];
export const MODE_CHOICES: readonly (readonly [SummaryMode, string])[] = [
  ['plan', 'plan'],
  ['all', 'all'],
  ['off', 'off']
];
export const LENS_TASK: Record<RequestKind, string> = {
  act: 'of a new run: its task, once it is given, stands at the end',
  plan: 'of a new run: its task, once it is given, stands before the last message',
  final: 'of a new run: its task, once it is given, stands before the last message'
};
export const LENS_KINDS: readonly (readonly [RequestKind, string])[] = [
  ['act', 'for an action'],
  ['plan', 'for a plan'],
  ['final', 'for a last answer']
];

/** The error of a run whose kernel ended while it went on. */
export const LOST = {
  kind: 'Interrupted',
  message: 'The kernel ended during this run. Its journal has every finished step:  agent_magic.load(".")'
};

export const WORDS = {
  added: 'Added',
  approve: 'Approve',
  approveBefore: 'Ask me before',
  approveHint: 'What waits for your word. Holds from the next call.',
  approveAll: 'Approve all',
  approvalTitle: 'Waiting for your approval',
  argumentsAsWritten: 'Arguments as written',
  argumentsOf: 'Arguments as JSON',
  answer: 'Answer',
  answerIsNone: 'The answer is None.',
  answerRefused: 'Refused by a check, no answer',
  asEdited: 'as edited',
  asModelWrote: 'As the model wrote it',
  bestGuess: 'Best guess, no answer',
  busy: 'The kernel is busy: this takes effect when the cell ends.',
  cancel: 'Cancel',
  cannotDraw: 'This run cannot be drawn. Show it in another cell: agent.runs[-1]',
  calls: 'Calls',
  changes: 'Namespace',
  code: 'Code',
  codeAsChanged: 'Code, as it was changed',
  codeRunning: 'Code, running',
  copied: 'Copied',
  copy: 'Copy',
  copyFailed: 'Selected: press Ctrl+C',
  cutHere: 'Some of this is shown shortened. What you save replaces the whole text.',
  dropped: 'Dropped',
  edit: 'Edit',
  empty: 'empty',
  firstCall: 'the first call of its kind',
  gone: 'The kernel that ran this was restarted or has ended, so nothing can be changed here any more.',
  goOn: 'Go on',
  hasRedacted: 'What is sent holds secrets: here they are shown as [redacted].',
  hideSteps: 'Hide the steps',
  image: 'Image',
  imageBroken: 'An image that cannot be shown.',
  isExact: 'rebuilt, and the same as what was sent',
  isPartial: 'Shown in part: it is long, or secrets are taken out. So it cannot be edited here.',
  kept: 'Kept',
  keptAs: 'Kept as',
  laneSteps: 'Steps of the managed agent',
  lensAgain: 'Ask again',
  lensHint: 'Exactly the messages of the call, normal and summary view side by side',
  lensKind: 'Which call',
  lensNext: 'What the model gets next',
  lensStep: 'What the model got',
  lensUnreadable: 'The kernel gave nothing that can be shown.',
  maxSteps: 'Step limit',
  maxStepsHint: 'Steps that a run may make. Holds from the next step.',
  modeHint: 'The mode of the agent: what its steps are written as',
  missed: 'did not reach this page, so steps may be missing here. Show the run in another cell: agent.runs[-1]',
  more: 'More',
  newer: 'This run was made by a newer agent_magic, so some of it may be missing here. Update it: pip install -U agent-magic',
  noAnswer: 'The kernel did not answer. If it was restarted, run the cell again.',
  noReason: 'no reason given',
  normalView: 'normal view',
  notExact: 'This is not quite what was sent: rebuilt from the memory, it has another digest.',
  notJson: 'This is not JSON',
  notObject: 'Arguments are a JSON object, such as {"city": "Oslo"}.',
  noCode: 'There is no code here. Write some, or reject it.',
  nothingSaid: 'nothing said',
  observation: 'Observation',
  output: 'Output',
  pause: 'Pause',
  pin: 'Pin',
  pinHint: 'Keep this step whole when the request must be shortened',
  pinned: 'pinned',
  plan: 'Plan',
  planHint: 'A plan before step 1 and again every so many steps. Holds from the next step.',
  planEvery: 'every',
  planSteps: 'steps',
  printed: 'Printed',
  reason: 'Reason (the model reads it)',
  reasoning: 'Reasoning',
  refused: 'The kernel refused.',
  reject: 'Reject',
  rejectNow: 'Reject',
  replanNow: 'Replan now',
  replanning: 'Replanning',
  replanningEvery: 'Steps between plans',
  runningCode: 'running code',
  save: 'Save',
  saved: 'Saved',
  sendEdited: 'Approve as edited',
  showAll: 'Show all',
  showEarlier: 'Show earlier',
  showMore: 'Show more',
  sound: 'Sound',
  soundBroken: 'it cannot be played here',
  starting: 'starting',
  showSteps: 'Show the steps',
  steps: 'Steps',
  stop: 'Stop',
  stopHint: 'Stop the agent; its steps so far stay',
  summaryMode: 'summary_mode',
  summaryModeHint: 'summary_mode: which calls read the short form of earlier steps; only those for a plan, all, or none',
  summaryView: 'summary view',
  task: 'Task',
  thought: 'Thought',
  tryingAgain: 'waiting before it tries again',
  undo: 'Undo change to a step',
  undoHint: 'Take back the last change to a step: its view, its pin, an edit',
  unpinned: 'not pinned',
  unreadable: 'This run cannot be read: its record is damaged, or of another version. Update agent_magic: pip install -U agent-magic',
  variables: 'Variables',
  writingCall: 'writing a call of',
  writingCode: 'writing code',
  viewHint: 'How the model is shown this step',
  viewLabel: 'Model sees'
} as const;
