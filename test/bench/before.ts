import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run, runNode } from '../../server/scripts/progress.mjs';

/** The server of an earlier commit, built with the dependencies of today. */
export interface EarlierBuild {
  /** The commit, shortened. */
  commit: string;
  /** The environment in which a program of this folder runs that build (built.mjs). */
  env: Record<string, string>;
  remove(): void;
}

/**
 * Builds the server of an earlier commit in a folder of its own. Returns null, and prints a line, if this clone does not have
 * that commit, or if it does not build any more.
 */
export async function buildBefore(commit: string): Promise<EarlierBuild | null> {
  const known = await run('git', ['rev-parse', '--verify', '--quiet', '--short', `${commit}^{commit}`], {
    quiet: true,
  });
  if (!known.ok) {
    console.log(
      `✗ This clone has no commit ${commit}: what is measured against the build of before is left out`,
    );
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), 'psa-before-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const sources = execFileSync('git', ['archive', commit, 'server', 'package.json', 'tsconfig.json'], {
    cwd: root,
    maxBuffer: 2 ** 28,
  });
  execFileSync('tar', ['-xf', '-'], { cwd: folder, input: sources });
  for (const modules of ['node_modules', 'server/node_modules']) {
    mkdirSync(join(folder, modules, '..'), { recursive: true });
    symlinkSync(join(root, modules), join(folder, modules), 'dir');
  }
  for (const script of ['bundle', 'build-pgdata']) {
    const { ok, output } = await runNode(join(folder, `server/scripts/${script}.mjs`), [], {
      cwd: folder,
      env: { NODE_ENV: 'production' },
      quiet: true,
    });
    if (ok) continue;
    console.log(`${output.trimEnd()}\n✗ The build of before, ${commit}, does not build: it is left out`);
    remove();
    return null;
  }
  const env = { PSA_BUILT_SERVER: join(folder, 'server/dist/server.js') };
  return { commit: known.output.trim(), env, remove };
}
