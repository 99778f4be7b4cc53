/**
 * The bridge from a view in an output to the kernel that ran it: requests over the control channel, which are
 * answered while a cell runs.
 *
 * It must not know what is asked, nor draw anything; it finds the kernel, sends, and waits for the reply.
 */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel, KernelMessage } from '@jupyterlab/services';

import { version } from '../package.json';
import type { Reply, Request } from './protocol';

const REQUEST = 'agent_magic_request';
const TIMEOUT_MS = 5_000;
/** A kernel in one of these has lost, or is losing, what it knew. */
const DOWN: ReadonlySet<Kernel.Status> = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);

/** Where a request comes from. */
export interface IOrigin {
  /** Of the view; its notebook or console has the kernel. */
  node: Node;
  /** For a view that stands outside of its notebook; null or empty: unknown. */
  kernelId: string | null;
}

/** What the page's views find as `globalThis.agentMagic`. */
export interface IBridge {
  /** Of agent_magic, as this extension was built. */
  readonly version: string;
  /**
   * Ask the kernel behind a view; the reply is untrusted.
   *
   * @throws Error - No kernel is open (its name is `NoKernel` then), or it did not answer within 5 s; the
   * text can be shown.
   */
  request(content: Request, origin: IOrigin): Promise<Reply>;
  /**
   * Be told when the kernel behind a node goes (`false`), and when one is there again (`true`).
   *
   * @returns Ends it; whoever calls `watch` calls this.
   */
  watch(node: Node, changed: (isUp: boolean) => void): () => void;
}

/** Told by its name: whoever catches it may have been bundled apart from here. */
class NoKernel extends Error {
  override readonly name = 'NoKernel';
}

interface IPanel {
  node: Node;
  sessionContext: ISessionContext;
}

let resolveBridge: (bridge: IBridge) => void;
/** The bridge, as soon as JupyterLab has started the plugin; never, where a person disabled it. */
export const bridgeReady = new Promise<IBridge>(resolve => {
  resolveBridge = resolve;
});

/** Build the page's bridge and hand it to who waits for `bridgeReady`. */
export function openBridge(shell: JupyterFrontEnd.IShell): IBridge {
  const bridge = new Bridge(shell);
  resolveBridge(bridge);
  return bridge;
}

class Bridge implements IBridge {
  readonly version = version;
  /** Kernel ids by run id, of views that stand outside of their notebooks. */
  private readonly _homes = new Map<string, string>();

  constructor(private readonly _shell: JupyterFrontEnd.IShell) {}

  async request(content: Request, origin: IOrigin): Promise<Reply> {
    const kernels = this._kernelsOf(content, origin);
    const [first, ...others] = kernels;
    if (first === undefined) {
      throw new NoKernel('No kernel runs for this view. Start the kernel of its notebook, then try again.');
    }
    if (others.length === 0) {
      return ask(first, content);
    }
    const [reply, kernel] = await askAll(kernels, content);
    if (reply.ok) {
      this._homes.set(content.run_id, kernel.id);
    }
    return reply;
  }

  watch(node: Node, changed: (isUp: boolean) => void): () => void {
    const context = this._panelOf(node)?.sessionContext;
    if (!context) {
      return () => undefined;
    }
    let isDown = false;
    const onKernel = (): void => changed(Boolean(context.session?.kernel));
    const onStatus = (_: ISessionContext, status: Kernel.Status): void => {
      if (DOWN.has(status) && !isDown) {
        isDown = true;
        changed(false);
      } else if (isDown && status === 'idle') {
        isDown = false;
        changed(true);
      }
    };
    context.kernelChanged.connect(onKernel);
    context.statusChanged.connect(onStatus);
    return () => {
      context.kernelChanged.disconnect(onKernel);
      context.statusChanged.disconnect(onStatus);
    };
  }

  /** The kernel of the view, or those that may be it: the one that knows the run will say so. */
  private _kernelsOf(content: Request, { node, kernelId }: IOrigin): Kernel.IKernelConnection[] {
    const panel = this._panelOf(node);
    if (panel) {
      const kernel = panel.sessionContext.session?.kernel;
      return kernel ? [kernel] : [];
    }
    const open = new Map<string, Kernel.IKernelConnection>();
    for (const { sessionContext } of this._panels()) {
      const kernel = sessionContext.session?.kernel;
      if (kernel) {
        open.set(kernel.id, kernel);
      }
    }
    const home = open.get(kernelId ?? '') ?? open.get(this._homes.get(content.run_id) ?? '');
    return home ? [home] : [...open.values()];
  }

  private _panelOf(node: Node): IPanel | undefined {
    return this._panels().find(panel => panel.node.contains(node));
  }

  /** Notebooks, consoles, and whatever else in the main area has a kernel. */
  private _panels(): IPanel[] {
    return [...this._shell.widgets('main')].filter(widget => 'sessionContext' in widget) as unknown as IPanel[];
  }
}

/** The first reply of a kernel that accepts, or else of one that answers. */
async function askAll(
  kernels: Kernel.IKernelConnection[],
  content: Request
): Promise<[Reply, Kernel.IKernelConnection]> {
  const asked = kernels.map(async (kernel): Promise<[Reply, Kernel.IKernelConnection]> => [await ask(kernel, content), kernel]);
  const accepted = asked.map(async each => {
    const answer = await each;
    if (!answer[0].ok) {
      throw new Error(answer[0].error);
    }
    return answer;
  });
  return Promise.any(accepted).catch(() => Promise.any(asked)).catch(() => Promise.race(asked));
}

/** Send one request over the control channel and wait for its reply. */
async function ask(kernel: Kernel.IKernelConnection, content: Request): Promise<Reply> {
  const future = kernel.sendControlMessage(toMessage(kernel, content), true, true);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      future.dispose();
      reject(
        new Error(
          `The kernel did not answer within ${TIMEOUT_MS / 1_000} s. ` +
            'Run %load_ext agent_magic in it; if that was done, the kernel hangs: interrupt it.'
        )
      );
    }, TIMEOUT_MS);
    future.onReply = reply => {
      clearTimeout(timer);
      const replied: unknown = reply.content;
      if (isReply(replied)) {
        resolve(replied);
      } else {
        reject(new Error('The kernel gave a reply that cannot be read. Update agent-magic there, then restart the kernel.'));
      }
    };
    // A restart cancels what was asked; after our own timeout this changes nothing.
    future.done.catch(() => {
      clearTimeout(timer);
      reject(new Error('The kernel was restarted before it answered.'));
    });
  });
}

let nSent = 0;

// JupyterLab's own types know the request types of Jupyter only.
function toMessage(kernel: Kernel.IKernelConnection, content: Request): KernelMessage.IControlMessage {
  nSent += 1;
  return {
    channel: 'control',
    header: {
      msg_id: `${kernel.clientId}_${REQUEST}_${nSent}`,
      msg_type: REQUEST,
      session: kernel.clientId,
      username: kernel.username,
      date: new Date().toISOString(),
      version: '5.3'
    },
    parent_header: {},
    metadata: {},
    content,
    buffers: []
  } as unknown as KernelMessage.IControlMessage;
}

function isReply(reply: unknown): reply is Reply {
  return (
    typeof reply === 'object' &&
    reply !== null &&
    'ok' in reply &&
    (reply.ok === true || (reply.ok === false && 'error' in reply && typeof reply.error === 'string'))
  );
}
