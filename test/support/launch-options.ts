import { runsAll } from './scale.ts';

/**
 * How every test starts a browser that is installed here; no browser is downloaded. The `shell` has no window and none of
 * what surrounds a page, which is a quarter of the CPU time; a popup blocker, a back/forward cache and a pointer are
 * the `browser`'s alone.
 */
export function launchOptions(kind: 'shell' | 'browser' = 'shell'): {
  executablePath: string;
  args: string[];
} {
  const { PSA_HEADLESS_SHELL, CHROME_BIN = '/usr/bin/chromium' } = process.env;
  return {
    executablePath: kind === 'shell' ? (PSA_HEADLESS_SHELL ?? CHROME_BIN) : CHROME_BIN,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${NOT_NEEDED.join()}`,
      // V8's better compilers cost more than so short a life of a page gives back.
      ...(kind === 'shell' ? ['--js-flags=--no-turbofan,--no-maglev'] : []),
    ],
  };
}

/** Movement takes CPU time as long as anything is waited for: pages of `npm test` are for people who want none. */
export const STILL: { reducedMotion?: 'reduce' } = runsAll() ? {} : { reducedMotion: 'reduce' };

/**
 * Features of the whole browser: the suggestions under its address line, which are two pages of their own in each window
 * and take more CPU time than most tests, and a process that is kept ready. Where a flag is given twice the last one counts,
 * so these are also the ones that Playwright turns off.
 */
const NOT_NEEDED = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding'],
  ...['PreconnectToSearch', 'ThirdPartyStoragePartitioning'],
];
