import { endWithNpm } from '../bin/starting.mjs';
import { ensureParts } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { isMain } from './progress.mjs';

if (isMain(import.meta.url)) {
  endWithNpm();
  // Programs read stdout, so only the command's result is written there.
  console.log = console.error;
  await ensureInstalled({ quiet: true });
  await ensureParts(['server'], { quiet: true });
  process.env.NODE_ENV ??= 'production';
  await import(new URL('../dist/psa.js', import.meta.url).href);
}
