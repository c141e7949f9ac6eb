import { run } from './progress.mjs';

/** The last one that runs on Node 20 and honours build scripts; npm brings it, so that nobody has to install it. */
export const PNPM = 'pnpm@10.34.9';

/** What npx has to be told for it to be pnpm. */
const PNPM_BY_NPX = ['--yes', '--prefer-offline', PNPM];

/** @param {string[]} args @param {Parameters<typeof run>[2]} [options] */
export function pnpm(args, options) {
  return run('npx', [...PNPM_BY_NPX, ...args], options);
}

/** Runs a script of one of the packages. @param {string} folder @param {string} script */
export function packageScript(folder, script) {
  // A test runner sets NODE_ENV to `test`, and Vite then takes the build of Lit that is for developers.
  return pnpm(['--dir', folder, 'run', script], { quiet: true, env: { NODE_ENV: 'production' } });
}
