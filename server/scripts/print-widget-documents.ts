import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import * as developers from '../../widget/console/developer-operations.ts';
import * as home from '../../widget/console/operations.ts';
import * as products from '../../widget/console/products/operations.ts';
import * as subaccounts from '../../widget/console/subaccount-operations.ts';
import * as subscriptions from '../../widget/console/subscriptions/operations.ts';
import { readHashes } from '../../widget/scripts/released.mjs';
import * as updates from '../../widget/src/board/updates.ts';
import * as disputes from '../../widget/src/disputes/operations.ts';
import { CURSOR_DOCUMENT } from '../../widget/src/live/protocol.ts';
import { METHODS_DOCUMENT } from '../../widget/src/methods.ts';
import * as checkout from '../../widget/src/operations.ts';
import * as payouts from '../../widget/src/payouts/operations.ts';
import * as sales from '../../widget/src/sales/operations.ts';
import { MINT_CHECKOUT, MINT_DASHBOARD } from '../../widget/src/server/mint.ts';
import { SALE_UPDATES, SALES_DOCUMENTS } from '../../widget/src/server/sales.ts';
import { accountDocument, documentOf, TOPIC_NAMES } from '../../widget/src/server/topics.ts';
import * as statement from '../../widget/src/statement/operations.ts';
import * as wallet from '../../widget/src/wallet/operations.ts';

// Prints the documents of the package's operations for the server, which trusts them: those of this version, and of the
// released ones. With `--manifest` those of the elements of this version alone, by their SHA-256, as a manifest for any
// server; with `--backend-manifest` those of `@psa/checkout/server`.
const boards = [payouts, wallet, statement, sales, disputes];
const elements = [
  ...[checkout, ...boards]
    .flatMap((module) => Object.values(module))
    .filter((each) => typeof each === 'string'),
  ...Object.values(updates).flatMap((each) => (typeof each === 'function' ? each() : [])),
  CURSOR_DOCUMENT,
  METHODS_DOCUMENT,
];
const pages = [home, products, subscriptions, developers, subaccounts]
  .flatMap((module) => Object.values(module))
  .filter((each) => typeof each === 'string');
const topics = [...TOPIC_NAMES.map((topic) => documentOf(topic)), accountDocument(), SALE_UPDATES];
const backend = [MINT_CHECKOUT, MINT_DASHBOARD, ...SALES_DOCUMENTS, ...topics];

function printManifest(documents: readonly string[]) {
  const byHash = documents.map((text) => [createHash('sha256').update(text).digest('hex'), text]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(byHash.sort()), null, 2)}\n`);
}

/** The lines of an array of documents: those of this version, and of the manifests of the released ones. */
function linesOf(own: readonly string[], manifest: string): string {
  const paths = Object.keys(readHashes()).map((version) => `widget/released/${version}/${manifest}`);
  const released = paths
    .filter((path) => existsSync(path))
    .flatMap((path) => Object.values<string>(JSON.parse(readFileSync(path, 'utf8'))));
  const documents = [...new Set([...own, ...released])].map((document) => `  '${document}',\n`);
  return documents.sort().join('');
}

function printModule() {
  process.stdout.write(`// Made from the operations in widget/src and widget/released; \`npm run regenerate\` writes it.

/** The documents of the widget of this version and of the released ones, which are trusted without a manifest. */
export const WIDGET_DOCUMENTS: readonly string[] = [
${linesOf([...elements, ...pages], 'documents.json')}];

/** The documents of @psa/checkout/server, which are trusted of an API key without a manifest. */
export const BACKEND_DOCUMENTS: readonly string[] = [
${linesOf(backend, 'backend-documents.json')}];
`);
}

if (process.argv.includes('--manifest')) printManifest(elements);
else if (process.argv.includes('--backend-manifest')) printManifest(backend);
else printModule();
