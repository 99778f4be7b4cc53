/** The part of JupyterLab that the bridge sees, without a page: a shell, its panels, their kernels. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import type { Reply, Request } from '../protocol';

interface ISent {
  channel: string;
  header: { msg_id: string; msg_type: string; session: string };
  content: Request;
}

/** A kernel that answers each request with `reply`; null: never; `given`: with what is no reply. */
export class KernelDouble {
  readonly clientId: string;
  readonly username = '';
  readonly sent: ISent[] = [];
  private readonly _waiting = new Map<(reason: Error) => void, { onReply(reply: { content: unknown }): void }>();

  constructor(
    readonly id: string,
    public reply: Reply | { given: unknown } | null = { v: 1, ok: true, effective: 'now', data: id }
  ) {
    this.clientId = `client-${id}`;
  }

  get nWaiting(): number {
    return this._waiting.size;
  }

  sendControlMessage(message: ISent): object {
    this.sent.push(message);
    const { reply } = this;
    let cancel: (reason: Error) => void = () => undefined;
    const done = new Promise<void>((_, reject) => {
      cancel = reject;
    });
    const future = {
      done,
      onReply: (_: { content: unknown }): void => undefined,
      dispose: (): void => {
        this._waiting.delete(cancel);
        cancel(new Error('Canceled future'));
      }
    };
    this._waiting.set(cancel, future);
    if (reply) {
      queueMicrotask(() => {
        this._waiting.delete(cancel);
        future.onReply({ content: 'given' in reply ? reply.given : reply });
      });
    }
    return future;
  }

  /** Answer what waits. */
  answer(reply: Reply): void {
    this._waiting.forEach(future => {
      future.onReply({ content: reply });
    });
    this._waiting.clear();
  }

  /** JupyterLab keeps the connection and cancels what was asked. */
  restart(): void {
    this._waiting.forEach((_, cancel) => {
      cancel(new Error('Canceled future'));
    });
    this._waiting.clear();
  }
}

/** A notebook or a console. */
export class PanelDouble {
  readonly node = document.createElement('div');
  readonly sessionContext = new ContextDouble();

  constructor(kernel: KernelDouble | null) {
    this.sessionContext.session = { kernel };
    document.body.append(this.node);
  }

  get kernel(): KernelDouble | null {
    return this.sessionContext.session.kernel;
  }

  setKernel(kernel: KernelDouble | null): void {
    this.sessionContext.session = { kernel };
    this.sessionContext.kernelChanged.emit(null);
  }
}

class ContextDouble {
  session: { kernel: KernelDouble | null } = { kernel: null };
  readonly kernelChanged = new Signal<this, null>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
}

export function shellOf(...panels: PanelDouble[]): JupyterFrontEnd.IShell {
  return { widgets: () => panels.values() } as unknown as JupyterFrontEnd.IShell;
}
