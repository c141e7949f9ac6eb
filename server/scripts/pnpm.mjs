import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './progress.mjs';

/** pnpm with the version that package.json pins. npx downloads it, so it need not be installed. */
export const { packageManager: PNPM } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** @param {string[]} args @param {Parameters<typeof run>[2]} [options] */
export function pnpm(args, options) {
  return run('npx', ['--yes', '--prefer-offline', PNPM, ...args], options);
}
