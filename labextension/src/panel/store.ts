/**
 * AgentStore: an agent as it stands, and who draws it. It must not draw, nor ask for anything.
 */
import type { AgentSnapshot } from '../protocol';
import { readAgent } from './readers';

export class AgentStore {
  /** null: nothing that can be read was given yet. */
  agent: AgentSnapshot | null = null;
  /** Whether the kernel tells of changes. */
  isLive = true;
  private readonly _listeners = new Set<() => void>();

  /** Show another state; what is untrusted is read, what cannot be read shows nothing. */
  reset(data: unknown): void {
    this.agent = readAgent(data) ?? null;
    this._tell();
  }

  setLive(isLive: boolean): void {
    this.isLive = isLive;
    this._tell();
  }

  /** Be told of each change; returns what ends it. */
  subscribe(listener: () => void): () => void {
    this._listeners.add(listener);
    return () => {
      this._listeners.delete(listener);
    };
  }

  private _tell(): void {
    this._listeners.forEach(listener => {
      listener();
    });
  }
}
