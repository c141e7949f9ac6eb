// Draws the reference images of test/widget/looks.page-test.ts again: pnpm --filter @psa/test looks. Look at them before
// you commit them.
import { mkdirSync } from 'node:fs';
import { fail } from '../../server/scripts/progress.mjs';
import { drawsReferences, ensureChromium } from '../support/chromium.mjs';
import { serveDemo } from '../widget/gallery-page.ts';
import {
  drawSheet,
  launchForLooks,
  openForLooks,
  REFERENCES,
  SHEETS,
  writeReference,
} from '../widget/looks.ts';

const found = await ensureChromium();
if ('problem' in found) fail(found.problem);
Object.assign(process.env, found.variables);
if (!drawsReferences(process.env)) fail('The pictures are drawn in Debian’s chromium-headless-shell alone.');

mkdirSync(REFERENCES, { recursive: true });
const server = await serveDemo();
const browser = await launchForLooks();
try {
  const gallery = await openForLooks(browser, server.url);
  for (const sheet of SHEETS) await writeReference(sheet.name, await drawSheet(gallery, sheet));
  if (gallery.problems.length > 0) throw new Error(gallery.problems.join('\n'));
  console.log(`${SHEETS.length} sheets in ${REFERENCES}`);
} finally {
  await browser.close();
  await server.close();
}
