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
    ],
  };
}
