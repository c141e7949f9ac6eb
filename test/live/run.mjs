import { ensureInstalled } from '../../server/scripts/install.mjs';
import { isMain, root, runNode } from '../../server/scripts/progress.mjs';

if (isMain(import.meta.url)) {
  await ensureInstalled();
  const { ok } = await runNode('--import', ['tsx', 'live/main.ts', ...process.argv.slice(2)], {
    cwd: `${root}test`,
  });
  process.exitCode = ok ? 0 : 1;
}
