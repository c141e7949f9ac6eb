// Prints a document of the widget (`node scripts/docs.mjs docs/recipes.md`) with its generated parts: the
// recipes, which are files that the tests run, and the script tags with the hashes of the newest released version.
// `npm run regenerate` writes it.
import { existsSync, readFileSync } from 'node:fs';
import { importMap, scriptTag } from './released.mjs';

const WIDGET = new URL('../', import.meta.url);
const RECIPES = new URL('../../test/widget/recipes/', import.meta.url);

const [document] = process.argv.slice(2);
if (!document) throw new Error('Name the document, such as README.md.');
const complete = readFileSync(new URL(document, WIDGET), 'utf8')
  .replace(/(<!-- recipe: (\S+) -->\n\n```\w+\n)[\s\S]*?(?=```)/g, (all, head, name) =>
    // The packed widget comes without the tests.
    existsSync(new URL(name, RECIPES)) ? head + readFileSync(new URL(name, RECIPES), 'utf8') : all,
  )
  .replace(/(<!-- (integrity|script): (\S+) -->\n\n```html\n)[\s\S]*?(?=```)/g, (_, head, kind, element) => {
    const options = { element, origin: 'https://pay.example' };
    const tag = scriptTag(options);
    return head + (kind === 'integrity' ? importMap(options) + tag : inOneLine(tag));
  });

process.stdout.write(complete);

/** @param {string} tag */
function inOneLine(tag) {
  return `${tag.trim().replace(/\s+/g, ' ').replace(' >', '>')}\n`;
}
