// Runs npm test on another version of Node, which npm's package `node` contains: `on-node.mjs 22`, `on-node.mjs 22 kernel/money`.
import { dirname, join } from 'node:path';
import { fail, isMain, root, run } from '../server/scripts/progress.mjs';
import { ensureFetched } from '../server/scripts/runtime.cjs';

if (isMain(import.meta.url)) {
  const [version, ...args] = process.argv.slice(2);
  if (!version) fail('Usage: on-node.mjs VERSION [what npm test takes]');
  const program = ensureFetched(version, '');
  // npm and npx use the first Node in the PATH.
  const PATH = `${dirname(program)}:${process.env.PATH}`;
  await run(program, ['--version']);
  const tests = await run(program, [join(root, 'test/run.mjs'), ...args], { env: { PATH } });
  process.exitCode = tests.ok ? 0 : 1;
}
