/**
 * A field for a whole number from 1 on.
 *
 * It must not keep the number, nor say what it is for.
 */
import { el } from './elements';

const MOST = 10_000;

/** `onChange` is called once for each number that is entered, by Enter or by leaving the field. */
export function wholeField(words: string, hint: string, onChange: () => void): HTMLInputElement {
  const field = el('input', 'interval');
  field.type = 'number';
  field.min = '1';
  field.max = String(MOST);
  field.title = hint;
  field.setAttribute('aria-label', words);
  // Lab keeps Enter from being a change; the change that follows when the field is left is no other.
  let entered: string | null = null;
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      onChange();
      entered = field.value;
    }
  });
  field.addEventListener('change', () => {
    if (field.value !== entered) {
      onChange();
    }
    entered = null;
  });
  return field;
}

/** The number in a field, which shows it then. */
export function wholeOf(field: HTMLInputElement, orElse: number): number {
  const given = Math.round(Number(field.value));
  const value = given >= 1 && given <= MOST ? given : orElse;
  field.value = String(value);
  return value;
}

/** Show a number, unless somebody is typing one. */
export function showWhole(field: HTMLInputElement, value: number | null): void {
  if (value !== null && document.activeElement !== field) {
    field.value = String(value);
  }
}
