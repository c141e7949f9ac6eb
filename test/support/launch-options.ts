import { runsAll } from './scale.ts';

/**
 * The options with which every test starts an installed browser; none is downloaded. The headless `shell` has no user
 * interface, which is a quarter of the CPU time; only the full `browser` has a popup blocker, a back/forward cache and a
 * pointer.
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
      // V8's optimizing compilers, its threads for garbage collection, a GPU process without a GPU, and a separate
      // compositor cost more than they save on pages that live so briefly.
      ...(kind === 'shell'
        ? [
            '--js-flags=--no-turbofan,--no-maglev,--single-threaded-gc,--max-lazy',
            '--in-process-gpu',
            '--disable-partial-raster',
            '--num-raster-threads=1',
          ]
        : []),
    ],
  };
}

/**
 * The options of every browser context. Animations are off in `npm test`, because they take CPU time during every
 * wait. `PSA_DEVICE_SCALE=2` runs the tests on a screen with pixels of half the size, as most phones and laptops
 * have.
 */
export const CONTEXT: { reducedMotion?: 'reduce'; deviceScaleFactor?: number } = {
  ...(!runsAll() && { reducedMotion: 'reduce' }),
  ...(process.env.PSA_DEVICE_SCALE && { deviceScaleFactor: Number(process.env.PSA_DEVICE_SCALE) }),
};

/**
 * Features of the full browser that are turned off: the suggestions below its address bar, which are two pages in each
 * window and take more CPU time than most tests, and a spare process. The last flag of a name counts, so the list repeats
 * those that Playwright turns off.
 */
const NOT_NEEDED = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding'],
  ...['PreconnectToSearch', 'ThirdPartyStoragePartitioning'],
];
