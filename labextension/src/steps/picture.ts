/**
 * Images of a run. Only what is plainly a picture in base64 is drawn; all else is said in words.
 *
 * It must not load anything from anywhere.
 */
import { el } from './elements';
import { oneLine } from './text';
import { WORDS } from './words';

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const MOST_WORDS = 80;
const MOST_CHARS = 20_000_000;

/** A picture from a `data:` URL, or a line that says that it cannot be shown; words are shown as they are. */
export function picture(url: string): HTMLElement {
  if (!url.startsWith('data:')) {
    return el('div', 'label', oneLine(url, MOST_WORDS));
  }
  if (url.length > MOST_CHARS || !PICTURE.test(url)) {
    return el('div', 'label', WORDS.imageBroken);
  }
  const image = document.createElement('img');
  image.className = 'jp-AgentMagic-image';
  image.alt = WORDS.image;
  image.addEventListener('error', () => {
    image.replaceWith(el('div', 'label', WORDS.imageBroken));
  });
  image.src = url;
  return image;
}
