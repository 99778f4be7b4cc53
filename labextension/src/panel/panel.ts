/**
 * Mounts the panel of an agent into an element of the page and keeps it as the store says.
 *
 * It puts the parts together; each part draws itself. It must not know which front end it is in.
 */
import type { AgentSnapshot, Json } from '../protocol';
import { arrange, append, el, keepShortcutsOff } from '../steps/elements';
import { jsonLine } from '../steps/jsonText';
import type { Ask } from '../steps/scene';
import { Frames } from '../steps/schedule';
import { oneLine } from '../steps/text';
import type { IMounted } from '../steps/view';
import { State, Tools } from './cards';
import { Memory } from './memory';
import { Section } from './section';
import { Settings } from './settings';
import type { AgentStore } from './store';
import { LAST_STATUS, PANEL } from './words';

/** Those that have controls of their own. */
const CONTROLLED = new Set(['max_steps', 'planning_interval', 'summary_mode', 'approve', 'is_paused']);

/**
 * Draw an agent into `element`.
 *
 * @param ask - Sends requests to the kernel; null: a panel without controls.
 */
export function mountAgent(element: HTMLElement, store: AgentStore, ask: Ask | null): IMounted {
  return new AgentPanel(element, store, ask);
}

class AgentPanel implements IMounted {
  private readonly _node = el('div', 'run panel-agent');
  private readonly _frames = new Frames(() => {
    this._draw();
  });
  private readonly _head = el('div', 'head');
  private readonly _gone = el('div', 'notice', PANEL.gone);
  private readonly _unreadable = el('div', 'notice', PANEL.newer);
  private readonly _settings: Settings | null;
  private readonly _memory: Memory;
  private readonly _state = new State();
  private readonly _tools = new Tools();
  private readonly _sections: { settings: Section; memory: Section; state: Section; tools: Section };
  private readonly _unsubscribe: () => void;
  private _headDrawn = '';

  constructor(
    element: HTMLElement,
    private readonly _store: AgentStore,
    ask: Ask | null
  ) {
    const opened = (): void => {
      this._frames.flush();
    };
    this._settings = ask ? new Settings(ask) : null;
    this._memory = new Memory(ask);
    this._sections = {
      settings: new Section(PANEL.settings, true, opened),
      memory: new Section(PANEL.memory, true, opened),
      state: new Section(PANEL.state, false, opened),
      tools: new Section(PANEL.tools, false, opened)
    };
    keepShortcutsOff(this._node);
    this._unsubscribe = this._store.subscribe(() => {
      this._frames.ask();
    });
    element.append(this._node);
    this._draw();
  }

  dispose(): void {
    this._unsubscribe();
    this._frames.dispose();
    this._node.remove();
  }

  private _draw(): void {
    const { agent, isLive } = this._store;
    if (!agent) {
      arrange(this._node, [this._unreadable]);
      return;
    }
    this._drawHead(agent);
    const { settings, memory, state, tools } = this._sections;
    memory.tell(Memory.about(agent));
    state.tell(State.about(agent));
    tools.tell(Tools.about(agent), Tools.weak(agent));
    this._settings?.update(agent);
    settings.show(this._settings?.node);
    if (memory.isOpen) {
      this._memory.update(agent);
      memory.show(this._memory.node);
    }
    if (state.isOpen) {
      this._state.update(agent);
      state.show(this._state.node);
    }
    if (tools.isOpen) {
      this._tools.update(agent);
      tools.show(this._tools.node);
    }
    arrange(this._node, [
      ...(isLive ? [] : [this._gone]),
      this._head,
      ...(this._settings ? [settings.node] : []),
      memory.node,
      state.node,
      tools.node
    ]);
  }

  private _drawHead({ agent, is_running }: AgentSnapshot): void {
    const drawn = JSON.stringify([agent, is_running]);
    if (drawn === this._headDrawn) {
      return;
    }
    this._headDrawn = drawn;
    const isGood = agent.last_status === 'answered';
    const chip = is_running
      ? el('span', 'chip is-blue', LAST_STATUS.running)
      : agent.last_status === null
        ? el('span', 'chip is-grey', PANEL.notRun)
        : el('span', `chip ${isGood ? 'is-green' : 'is-amber'}`, `last run ${LAST_STATUS[agent.last_status]}`);
    const others = Object.entries(agent.settings).filter(([name]) => this._settings === null || !CONTROLLED.has(name));
    this._head.replaceChildren();
    append(
      this._head,
      el(
        'div',
        'head-line',
        el('span', 'agent', oneLine(agent.name, 80)),
        chip,
        el('span', 'model', modelWords(agent.model, agent.why))
      ),
      others.length > 0 && el('div', 'fine', others.map(settingWords).join(' · '))
    );
  }
}

/** The model and why it was chosen; a reason that names it says both. */
function modelWords(model: string, why: string | null): string {
  return oneLine(!why ? model : why.startsWith(model) ? why : `${model} · ${why}`, 200);
}

function settingWords([name, value]: [string, Json]): string {
  return `${oneLine(name, 40)} ${typeof value === 'string' ? oneLine(value, 120) : jsonLine(value, 120)}`;
}
