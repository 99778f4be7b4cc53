/** Strings that try to become markup, handlers or commands; the browser tests in Python read them too. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const FILE = resolve(import.meta.dirname, '../../../../tests/view/xss.json');

export const ATTACKS = JSON.parse(readFileSync(FILE, 'utf8')) as string[];
