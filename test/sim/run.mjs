import { ensureInstalled } from '../../server/scripts/install.mjs';
import { isMain, root, runNode } from '../../server/scripts/progress.mjs';
import { filterFiles, runTests } from '../run.mjs';
import { findTestFiles } from '../support/test-files.mjs';

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  await ensureInstalled();
  const { ok } = args.includes('--orders')
    ? await runTests({ files: filterFiles(findTestFiles(), ['sim/orders']), scale: 'full' })
    : await runNode('--import', ['tsx', 'sim/main.ts', ...args], { cwd: `${root}test` });
  process.exitCode = ok ? 0 : 1;
}
