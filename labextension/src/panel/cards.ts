/**
 * What an agent may use: the names of its state, and its tools as the model is told of them.
 *
 * It must not ask the kernel for anything.
 */
import type { AgentSnapshot, NameRecord, ParameterRecord, ToolRecord } from '../protocol';
import { block, label, prose } from '../steps/block';
import { append, arrange, el } from '../steps/elements';
import { counted, grouped } from '../steps/figures';
import { firstLine, oneLine } from '../steps/text';
import { callLine } from '../steps/titles';
import { PANEL } from './words';

/** The names as a table: what each is, and a preview that opens. */
export class State {
  readonly node = el('div', '');
  private _drawn = '';

  static about(agent: AgentSnapshot): string {
    const n = agent.names.length + agent.names_left_out;
    return agent.scope === 'all' ? `${counted(n, 'name')} · all variables` : counted(n, 'name');
  }

  update(agent: AgentSnapshot): void {
    const drawn = JSON.stringify([agent.names, agent.names_left_out]);
    if (drawn === this._drawn) {
      return;
    }
    this._drawn = drawn;
    const left = agent.names_left_out;
    arrange(this.node, [
      agent.names.length ? el('table', 'table panel-table', namesBody(agent.names)) : el('div', 'fine', PANEL.noNames),
      ...(left ? [el('div', 'gap', `… ${grouped(left)} more …`)] : [])
    ]);
  }
}

function namesBody(names: NameRecord[]): HTMLElement {
  const body = el('tbody');
  for (const { name, type, shape, preview = '' } of names) {
    const head = el('th', 'name', oneLine(name, 60));
    head.scope = 'row';
    const about = shape ? `${type}, ${shape}` : type;
    const value = preview.includes('\n')
      ? el('td', '', el('div', 'fine', oneLine(about, 120)), block(preview))
      : el('td', '', el('span', 'fine', oneLine(about, 120)), preview && '  ', el('span', 'value', preview));
    body.append(el('tr', '', head, value));
  }
  return body;
}

/** The tools: a line each, which opens what the model is told and what is weak about it. */
export class Tools {
  readonly node = el('div', '');
  private _drawn = '';
  private readonly _open = new Set<string>();

  static about(agent: AgentSnapshot): string {
    return counted(agent.tools.length + agent.tools_left_out, 'tool');
  }

  /** How much there is to better; empty if nothing is. */
  static weak(agent: AgentSnapshot): string {
    const nWeak = agent.tools.reduce((sum, tool) => sum + tool.weaknesses.length, 0);
    const nGone = agent.tools_missing.length;
    return [
      agent.tools_error === undefined ? '' : 'cannot be read',
      nWeak ? counted(nWeak, PANEL.weak) : '',
      nGone ? `${grouped(nGone)} gone` : ''
    ]
      .filter(Boolean)
      .map(words => `⚠ ${words}`)
      .join('  ');
  }

  update(agent: AgentSnapshot): void {
    const { tools, tools_missing, tools_left_out, tools_error } = agent;
    const drawn = JSON.stringify([tools, tools_missing, tools_left_out, tools_error]);
    if (drawn === this._drawn) {
      return;
    }
    this._drawn = drawn;
    arrange(this.node, [
      ...(tools_error === undefined ? [] : [el('div', 'warning', `⚠ ${tools_error}`)]),
      ...tools_missing.map(name => el('div', 'warning', `⚠ ${oneLine(name, 60)} ${PANEL.goneTool}`)),
      ...(tools.length || tools_error !== undefined ? [] : [el('div', 'fine', PANEL.noTools)]),
      ...tools.map(tool => this._tool(tool)),
      ...(tools_left_out ? [el('div', 'gap', `… ${grouped(tools_left_out)} more …`)] : [])
    ]);
  }

  private _tool(tool: ToolRecord): HTMLElement {
    const nWeak = tool.weaknesses.length;
    const toggle = el(
      'button',
      'step-line',
      el('code', 'call-name', oneLine(tool.name, 60)),
      el('span', 'title', firstLine(tool.description)),
      nWeak > 0 && el('span', 'labels is-striking', `⚠ ${counted(nWeak, PANEL.weak)}`)
    );
    toggle.type = 'button';
    const node = el('div', 'step', toggle);
    const draw = (isOpen: boolean): void => {
      toggle.setAttribute('aria-expanded', String(isOpen));
      arrange(node, isOpen ? [toggle, toolBody(tool)] : [toggle]);
    };
    toggle.addEventListener('click', () => {
      const isOpen = toggle.getAttribute('aria-expanded') !== 'true';
      this._open[isOpen ? 'add' : 'delete'](tool.name);
      draw(isOpen);
    });
    draw(this._open.has(tool.name));
    return node;
  }
}

function toolBody(tool: ToolRecord): HTMLElement {
  const body = el('div', 'step-body');
  append(body, ...tool.weaknesses.map(line => el('div', 'warning', `⚠ ${line}`)));
  append(body, label(PANEL.toolTold), prose(tool.description));
  append(body, label(tool.parameters.length ? PANEL.parameters : PANEL.noParameters));
  if (tool.parameters.length) {
    const rows = el('tbody');
    rows.append(...tool.parameters.map(parameterRow));
    append(body, el('table', 'table', rows));
  }
  if (tool.examples.length) {
    append(body, label(PANEL.examples));
    for (const example of tool.examples) {
      append(
        body,
        el('div', '', el('code', '', callLine(tool.name, example.arguments))),
        el('div', 'fine', example.task)
      );
    }
  }
  return body;
}

function parameterRow(parameter: ParameterRecord): HTMLElement {
  const { name, type, description, is_required } = parameter;
  const head = el('th', 'name', oneLine(name, 60));
  head.scope = 'row';
  const kind =
    parameter.default === undefined ? (is_required ? type : `${type}, ${PANEL.optional}`) : `${type} = ${parameter.default}`;
  return el('tr', '', head, el('td', '', el('code', '', kind)), el('td', '', description));
}
