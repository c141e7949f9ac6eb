import { CURSOR_DOCUMENT } from '../../widget/src/live/protocol.ts';
import { METHODS_DOCUMENT } from '../../widget/src/methods.ts';
import * as checkout from '../../widget/src/operations.ts';
import * as payouts from '../../widget/src/payouts/operations.ts';

// Prints the documents of the widget's operations for the server, which trusts them.
const documents = [...Object.values(checkout), ...Object.values(payouts), CURSOR_DOCUMENT, METHODS_DOCUMENT]
  .map((document) => `  '${document}',\n`)
  .sort();

process.stdout.write(`// Made from the operations in widget/src; \`npm run regenerate\` writes it.

/** The documents of the widget of this version, which are trusted without a manifest. */
export const WIDGET_DOCUMENTS: readonly string[] = [
${documents.join('')}];
`);
