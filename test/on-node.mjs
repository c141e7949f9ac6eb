// Runs npm test on another version of Node, which npm's package `node` contains: `on-node.mjs 22`, `on-node.mjs 22 kernel/money`.
import { dirname, join } from 'node:path';
import { fail, isMain, root, run } from '../server/scripts/progress.mjs';

if (isMain(import.meta.url)) {
  const [version, ...args] = process.argv.slice(2);
  if (!version) fail('Usage: on-node.mjs VERSION [what npm test takes]');
  // Removed with node_modules.
  const folder = join(root, 'node_modules/.psa/node', version);
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts=false'];
  const { ok, output } = await run('npm', [...install, `node@${version}`], { quiet: true });
  if (!ok) fail(`Node ${version} could not be installed from npm: ${output}`);
  const program = join(folder, 'node_modules/node/bin/node');
  // npm and npx run on the Node that is first in the PATH.
  const PATH = `${dirname(program)}:${process.env.PATH}`;
  await run(program, ['--version']);
  const tests = await run(program, [join(root, 'test/run.mjs'), ...args], { env: { PATH } });
  process.exitCode = tests.ok ? 0 : 1;
}
