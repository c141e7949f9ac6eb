import { describe, expect, it } from 'vitest';
import { inLanguage, safeUrl } from '../../widget/src/payment-window.ts';

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
