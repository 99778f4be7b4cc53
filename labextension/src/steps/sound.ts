/**
 * Sounds of a run, with what plays them. Only what is plainly a sound in base64 can be played; all else is said
 * in words.
 *
 * It must not play anything by itself, nor load anything from anywhere.
 */
import type { SoundRecord } from '../protocol';
import { el, textNode } from './elements';
import { oneLine } from './text';
import { WORDS } from './words';

const SOUND = /^data:audio\/(?:wav|mpeg|ogg|flac);base64,[A-Za-z0-9+/]+={0,2}$/;
const MOST_WORDS = 120;
const MOST_CHARS = 20_000_000;

/** What a sound is, and below it what plays it if it is here. */
export function sound({ words, url = '' }: SoundRecord): HTMLElement {
  const told = oneLine(words, MOST_WORDS) || WORDS.sound;
  if (!url) {
    return el('div', 'label', told);
  }
  if (url.length > MOST_CHARS || !SOUND.test(url)) {
    return el('div', 'label', `${told}: ${WORDS.soundBroken}`);
  }
  const player = document.createElement('audio');
  player.className = 'jp-AgentMagic-sound';
  player.controls = true;
  player.preload = 'metadata';
  player.setAttribute('aria-label', WORDS.sound); // what it is stands above, as a text
  player.src = url;
  const label = el('div', 'label', told);
  player.addEventListener('error', () => {
    label.append(textNode(`: ${WORDS.soundBroken}`));
    player.remove();
  });
  return el('div', '', label, player);
}
