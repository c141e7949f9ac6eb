/** How every test starts the browser that is installed here; no browser is downloaded. */
export function launchOptions(): { executablePath: string; args: string[] } {
  return {
    executablePath: process.env.CHROME_BIN ?? '/usr/bin/chromium',
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
