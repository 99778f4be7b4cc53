/**
 * The few elements that a view is made of: each text goes in as a text node, cleaned.
 *
 * No other file makes an element. It must not take a tag, a class or an attribute from data; classes
 * are named here in short and get the project's prefix.
 */
import { cutBefore, MAX_SHOWN, toDisplay } from './text';

const PREFIX = 'jp-AgentMagic-';

type Tag =
  | 'div'
  | 'span'
  | 'button'
  | 'pre'
  | 'code'
  | 'label'
  | 'input'
  | 'select'
  | 'option'
  | 'textarea'
  | 'table'
  | 'tbody'
  | 'tr'
  | 'th'
  | 'td';
export type Child = Node | string | null | undefined | false;

const TYPED_AT: ReadonlySet<Tag> = new Set<Tag>(['button', 'input', 'select', 'textarea']);

/**
 * Lab's single-letter shortcuts would act on the cell while an element of ours has the focus. They look
 * for this at the element that has it before they look around it.
 */
export function keepShortcutsOff(element: HTMLElement): void {
  element.setAttribute('data-lm-suppress-shortcuts', 'true');
}

/** An element; `classes` are the project's own, parted by spaces. */
export function el<T extends Tag>(
  tag: T,
  classes = '',
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  if (classes) {
    made.className = named(classes);
  }
  if (TYPED_AT.has(tag)) {
    keepShortcutsOff(made);
  }
  append(made, ...children);
  return made;
}

/** Texts become text nodes; what is empty is left out. */
export function append(parent: HTMLElement, ...children: Child[]): void {
  for (const child of children) {
    if (child) {
      parent.append(typeof child === 'string' ? textNode(child) : child);
    }
  }
}

/** Let an element say something else, if it does not say it already. */
export function say(node: Node, text: string): void {
  const shown = toDisplay(text);
  if (node.textContent !== shown) {
    node.textContent = shown;
  }
}

/** A text as it may be shown; of one that is too long the begin. */
export function textNode(text: string): Text {
  return document.createTextNode(toDisplay(cutBefore(text, MAX_SHOWN)));
}

/** A button that does something when it is clicked; it never sends a form. */
export function button(label: string, classes: string, onClick: () => void): HTMLButtonElement {
  const made = el('button', classes, label);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
}

/** A choice of a few words; `onChange` gets the value that was chosen. */
export function choice<T extends string>(
  hint: string,
  options: readonly (readonly [T, string])[],
  onChange: (value: T) => void
): HTMLSelectElement {
  const made = el('select', 'select');
  made.title = hint;
  for (const [value, words] of options) {
    const option = el('option', '', words);
    option.value = value;
    made.append(option);
  }
  made.addEventListener('change', () => {
    const chosen = options[made.selectedIndex];
    if (chosen) {
      onChange(chosen[0]);
    }
  });
  return made;
}

/** The project's name of one or more classes. */
export function named(classes: string): string {
  return classes
    .split(' ')
    .map(name => PREFIX + name)
    .join(' ');
}

export function toggleClass(node: Element, name: string, isOn: boolean): void {
  node.classList.toggle(PREFIX + name, isOn);
}

/** Make `parent` hold exactly these, moving as little as can be. */
export function arrange(parent: HTMLElement, children: readonly Node[]): void {
  const kept = new Set(children);
  for (const child of [...parent.childNodes]) {
    if (!kept.has(child)) {
      child.remove();
    }
  }
  let at = parent.firstChild;
  for (const child of children) {
    if (child === at) {
      at = at.nextSibling;
    } else {
      parent.insertBefore(child, at);
    }
  }
}
