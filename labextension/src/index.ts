/** The plugins of the JupyterLab extension; it must hold no logic of theirs. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { openBridge } from './bridge';
import { mendReopened } from './reopened';

const bridge: JupyterFrontEndPlugin<void> = {
  id: 'agent-magic:bridge',
  description: 'Lets the views of runs reach their kernel while a cell runs.',
  autoStart: true,
  activate: (app: JupyterFrontEnd): void => {
    Object.assign(globalThis, { agentMagic: openBridge(app.shell) });
  }
};

const reopened: JupyterFrontEndPlugin<void> = {
  id: 'agent-magic:reopened',
  description: 'Finds runs again in notebooks that were closed in the middle of them.',
  autoStart: true,
  activate: (app: JupyterFrontEnd): void => {
    mendReopened(app.shell);
  }
};

export default [bridge, reopened];
