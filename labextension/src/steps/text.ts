/**
 * Texts as they may be shown: without control characters, bidi overrides made visible, cut.
 *
 * Twin of `agent_magic/core/text.py`. It must not know what a text is about, nor make elements.
 */

// CSI and OSC sequences, then any other escape with one final byte.
// eslint-disable-next-line no-control-regex -- these are the characters it is about
const ANSI = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?/g;
// eslint-disable-next-line no-control-regex -- these are the characters it is about
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// What needs no cleaning: printable ASCII, tab, line feed; and any sign that none of the above matches.
const CLEAN = /^[\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\uffff]*$/;

/** What stands in the page of one text at most, in UTF-16 code units. */
export const MAX_SHOWN = 100_000;
const LONGEST_LINE_READ = 4;

/** `text` as it may be shown; tab and line ends stay, joiners and marks too. */
export function toDisplay(text: string): string {
  if (CLEAN.test(text)) {
    return text;
  }
  let shown = text.replace(ANSI, '').replace(/\r\n/g, '\n');
  if (shown.includes('\r')) {
    shown = shown.split('\n').map(lastState).join('\n');
  }
  return shown
    .replace(CONTROL, '')
    .replace(LONE_SURROGATE, '\ufffd')
    .replace(BIDI, sign => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

/** `text` on one line, cut with `…`. */
export function oneLine(text: string, maxChars = 200): string {
  const line = toDisplay(text.slice(0, LONGEST_LINE_READ * maxChars))
    .trim()
    .replace(/\s+/g, ' ');
  return line.length <= maxChars ? line : `${cutBefore(line, maxChars - 1)}…`;
}

/** The first line that says something, cut with `…`. */
export function firstLine(text: string, maxChars = 100): string {
  const found = /\S[^\n\r]*/.exec(text);
  return found ? oneLine(found[0], maxChars) : '';
}

/** The first characters of a text; never half of a pair of surrogates. */
export function cutBefore(text: string, maxChars: number): string {
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}

/** The last characters of a text; never half of a pair of surrogates. */
export function cutAfter(text: string, maxChars: number): string {
  const start = Math.max(text.length - maxChars, 0);
  const first = text.charCodeAt(start);
  return text.slice(start > 0 && first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}

// A lone CR overwrites a line on a terminal: of a progress bar the last state stays.
function lastState(line: string): string {
  const states = line.replace(/\r+$/, '').split('\r');
  return states[states.length - 1] ?? '';
}
