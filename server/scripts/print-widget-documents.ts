import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readHashes } from '../../widget/scripts/released.mjs';
import { CURSOR_DOCUMENT } from '../../widget/src/live/protocol.ts';
import { METHODS_DOCUMENT } from '../../widget/src/methods.ts';
import * as checkout from '../../widget/src/operations.ts';
import * as payouts from '../../widget/src/payouts/operations.ts';

// Prints the documents of the widget's operations for the server, which trusts them: those of this version, and of the
// released ones. With `--manifest` those of this version alone, by their SHA-256, as a manifest for any server.
const own = [...Object.values(checkout), ...Object.values(payouts), CURSOR_DOCUMENT, METHODS_DOCUMENT];

function printManifest() {
  const byHash = own.map((document) => [createHash('sha256').update(document).digest('hex'), document]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(byHash.sort()), null, 2)}\n`);
}

function printModule() {
  const released = Object.keys(readHashes()).flatMap((version) =>
    Object.values<string>(JSON.parse(readFileSync(`widget/released/${version}/documents.json`, 'utf8'))),
  );
  const documents = [...new Set([...own, ...released])].map((document) => `  '${document}',\n`).sort();
  process.stdout.write(`// Made from the operations in widget/src and widget/released; \`npm run regenerate\` writes it.

/** The documents of the widget of this version and of the released ones, which are trusted without a manifest. */
export const WIDGET_DOCUMENTS: readonly string[] = [
${documents.join('')}];
`);
}

if (process.argv.includes('--manifest')) printManifest();
else printModule();
