// Prints a document of the widget (`node scripts/docs.mjs docs/recipes.md`) with its generated parts: the
// recipes, which are files that the tests run, and the hashes of the script-tag bundle, which must be built before.
// `npm run regenerate` writes it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const WIDGET = new URL('../', import.meta.url);
const RECIPES = new URL('../../test/widget/recipes/', import.meta.url);
const BUNDLE = new URL('../dist/standalone/', import.meta.url);

const [document] = process.argv.slice(2);
if (!document) throw new Error('Name the document, such as README.md.');
const complete = readFileSync(new URL(document, WIDGET), 'utf8')
  .replace(/(<!-- recipe: (\S+) -->\n\n```\w+\n)[\s\S]*?(?=```)/g, (all, head, name) =>
    // The packed widget comes without the tests.
    existsSync(new URL(name, RECIPES)) ? head + readFileSync(new URL(name, RECIPES), 'utf8') : all,
  )
  .replace(
    /(<!-- integrity: (\S+) -->\n\n```html\n)[\s\S]*?(?=```)/g,
    (_, head, element) => head + scriptTag(element),
  );

process.stdout.write(complete);

/** @param {string} element */
function scriptTag(element) {
  const chunks = readdirSync(BUNDLE).filter(
    (name) => name.startsWith(`${element}.`) && /\.\w+\.js$/.test(name),
  );
  // A chunk that did not load is retried under an address that the browser has not cached; see import-again.ts.
  const lines = chunks
    .sort()
    .flatMap((name) =>
      [name, `${name}?again`].map((path) => `    "https://pay.example/widget/${path}": "${hash(name)}"`),
    );
  return `<script type="importmap">
{
  "integrity": {
${lines.join(',\n')}
  }
}
</script>
<script
  type="module"
  src="https://pay.example/widget/${element}.js"
  integrity="${hash(`${element}.js`)}"
  crossorigin="anonymous"
></script>
`;
}

/** @param {string} name */
function hash(name) {
  return `sha384-${createHash('sha384')
    .update(readFileSync(new URL(name, BUNDLE)))
    .digest('base64')}`;
}
