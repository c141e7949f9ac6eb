import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { inLanguage, resolveMode, safeUrl } from '../../widget/src/payment-window.ts';

describe('the address of a payment page', () => {
  it.each([
    'https://pay.example/checkout/A',
    'http://localhost:4000/checkout/A',
    'http://127.0.0.1/checkout/A',
    'http://[::1]:4000/checkout/A',
  ])('the payment page may be at %s', (url) => {
    expect(safeUrl(url)).toBe(url);
  });

  it.each([
    'http://pay.example/checkout/A',
    // The part before an @ is not the host.
    'http://localhost:1@pay.example/checkout/A',
    'http://localhost.pay.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'java\nscript:alert(1)',
    '//pay.example',
    '',
    null,
  ])('the payment page may not be at %j', (url) => {
    expect(safeUrl(url)).toBeUndefined();
  });
});

it.each([
  ['https://pay.example/A', 'https://pay.example/A?lang=es'],
  ['https://pay.example/A?sig=a%2Fb+c', 'https://pay.example/A?sig=a%2Fb+c&lang=es'],
  ['https://pay.example/A#form', 'https://pay.example/A?lang=es#form'],
  ['https://pay.example/A?lang=en', 'https://pay.example/A?lang=en'],
])('the payment page at %s is opened in the element’s language', (url, opened) => {
  expect(inLanguage(url, 'es')).toBe(opened);
});

const IOS = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const ANDROID = 'Mozilla/5.0 (Linux; Android 15; Pixel 9';

it.each([
  ['redirect', 'an app of no name on iOS', `${IOS} Mobile/15E148`],
  ['redirect', 'an app with a name of its own', `${IOS} Mobile/15E148 ShopApp/7.1`],
  [
    'redirect',
    'an app that is like a browser',
    `${IOS} Mobile/15E148 Snapchat/13.2 (like Safari/8620.1, panda)`,
  ],
  [
    'redirect',
    'an app on an iPad',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  ],
  [
    'redirect',
    'an app on Android',
    `${ANDROID}; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0 Mobile Safari/537.36`,
  ],
  ['popup', 'Safari', `${IOS} Version/18.5 Mobile/15E148 Safari/604.1`],
  ['popup', 'Chrome on iOS', `${IOS} CriOS/140.0 Mobile/15E148 Safari/604.1`],
  [
    'popup',
    'Chrome on Android',
    `${ANDROID}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36`,
  ],
  ['popup', 'Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'],
])('the mode is %s in %s', (mode, _, userAgent) => {
  vi.stubGlobal('navigator', { userAgent, serviceWorker: {} });
  vi.stubGlobal('isSecureContext', true);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(resolveMode('auto')).toBe(mode);
});

it('an app on iOS that writes a browser’s name has no service workers', () => {
  const userAgent = `${IOS} Version/18.5 Mobile/15E148 Safari/604.1`;
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('navigator', { userAgent });
  vi.stubGlobal('isSecureContext', true);
  expect(resolveMode('auto')).toBe('redirect');
  // Browsers have these only with https.
  vi.stubGlobal('isSecureContext', false);
  expect([resolveMode('auto'), resolveMode('tab')]).toEqual(['popup', 'tab']);
});
