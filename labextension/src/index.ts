/** The plugins of the JupyterLab extension; it must hold no logic of theirs. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { openBridge } from './bridge';

const bridge: JupyterFrontEndPlugin<void> = {
  id: 'agent-magic:bridge',
  description: 'Lets the views of runs reach their kernel while a cell runs.',
  autoStart: true,
  activate: (app: JupyterFrontEnd): void => {
    Object.assign(globalThis, { agentMagic: openBridge(app.shell) });
  }
};

export default [bridge];
