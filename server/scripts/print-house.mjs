// Prints .github/CONTRIBUTING.md with the picture of the wings, drawn from the imports of server/src.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WINGS } from '../architecture.mjs';
import { importsOfServer } from './imports.mjs';
import { root } from './progress.mjs';

/** @type {Map<string, Set<string>>} */
const known = new Map(Object.keys(WINGS).map((wing) => [wing, new Set()]));
for (const [file, imported] of importsOfServer()) {
  const [from = '', to = ''] = [file, imported].map((path) => path.split('/')[0]);
  if (from !== to) known.get(from)?.add(to);
}

/** Whether a wing imports another one that imports the third, directly or not. @param {string} from @param {string} to */
function isBehindAnother(from, to) {
  return [...(known.get(from) ?? [])].some((wing) => wing !== to && reaches(wing, to));
}

/** @param {string} from @param {string} to @returns {boolean} */
function reaches(from, to) {
  const direct = known.get(from) ?? new Set();
  return direct.has(to) || [...direct].some((wing) => reaches(wing, to));
}

const nodes = Object.entries(WINGS)
  .reverse()
  .map(([wing, rooms]) => {
    const names = rooms.filter((room) => room !== '.');
    return `  ${wing}["<b>${wing}</b>${names.length > 0 ? `<br>${names.join(' ')}` : ''}"]`;
  });
const arrows = [...known].flatMap(([from, direct]) =>
  [...direct].filter((to) => !isBehindAnother(from, to)).map((to) => `  ${from} --> ${to}`),
);
const drawing = ['```mermaid', 'flowchart TD', ...nodes, ...arrows.sort(), '```'].join('\n');

const document = readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8');
process.stdout.write(
  document.replace(/(?<=<!-- wings -->\n)[\s\S]*?(?=\n<!-- end of wings -->)/, () => `\n${drawing}\n`),
);
