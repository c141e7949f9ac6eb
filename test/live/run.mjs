import { ensureParts } from '../../server/scripts/build.mjs';
import { ensureInstalled } from '../../server/scripts/install.mjs';
import { isMain, root, runNode } from '../../server/scripts/progress.mjs';

// npm run conformance: live status with stock clients; with `http`, the HTTP clients of other languages.
if (isMain(import.meta.url)) {
  await ensureInstalled();
  const [kind, ...rest] = process.argv.slice(2);
  const isHttp = kind === 'http';
  if (isHttp) await ensureParts(['server', 'pgdata']);
  const args = isHttp ? ['clients/http/main.ts', ...rest] : ['live/main.ts', ...process.argv.slice(2)];
  const { ok } = await runNode('--import', ['tsx', ...args], { cwd: `${root}test` });
  process.exitCode = ok ? 0 : 1;
}
