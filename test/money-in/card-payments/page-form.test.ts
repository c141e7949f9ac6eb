import { describe, expect, it } from 'vitest';
import { isComplete, monthFirst } from '../../../server/src/api/checkout-page/card.js';
import { cspSource, returnUrl } from '../../../server/src/api/checkout-page/return-url.ts';
import { parseCardForm } from '../../../server/src/money-in/card-payments/page/form.ts';
import { TEST_CARDS } from '../../../server/src/rails/simulated/acquirer.ts';
import { GOOD_CARD, NOW } from './hosted-checkout.ts';

const REFUSED = 'test_cards_only';

function parse(changes: Partial<Record<keyof typeof GOOD_CARD, string>> = {}, now = NOW) {
  const refusal = (number: string) => (number === '4111111111111111' ? REFUSED : null);
  return parseCardForm(new URLSearchParams({ ...GOOD_CARD, ...changes }), { now, refusal });
}

function errorsOf(...args: Parameters<typeof parse>) {
  const form = parse(...args);
  return form.ok ? {} : form.errors;
}

describe('the card form', () => {
  it('The card form reads a card as it is typed', () => {
    expect(parse({ holder: '  maria   da silva ' })).toMatchObject({
      ok: true,
      card: {
        number: '4242424242424242',
        holder: 'maria da silva',
        expiryMonth: 12,
        expiryYear: 2029,
        securityCode: '123',
      },
    });
  });

  it.each(Object.keys(TEST_CARDS))('The card form accepts the number of the test card %s', (number) => {
    expect(errorsOf({ number })).toEqual({});
  });

  it.each([
    ['', 'missing'],
    ['   ', 'missing'],
    ['4242 4242 4242 4241', 'invalid'],
    ['4242', 'invalid'],
    ['42424242424242424242', 'invalid'],
    ['4242 4242 4242 424x', 'invalid'],
    ['٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢', 'invalid'],
    ['4111 1111 1111 1111', REFUSED],
  ])('The card form answers the number "%s" with "%s"', (number, message) => {
    expect(errorsOf({ number })).toEqual({ number: message });
  });

  it.each([
    '4242-4242-4242-4242',
    '4242.4242.4242.4242',
    ' 4242424242424242 ',
    '4242\u00a04242\u00a04242\u00a04242',
  ])('The card form accepts the number typed as "%s"', (number) => expect(errorsOf({ number })).toEqual({}));

  it.each([
    ['', 'missing'],
    ['M', 'invalid'],
    ['4242424242424242', 'invalid'],
    ['Maria\u0000Silva', 'invalid'],
    ['x'.repeat(61), 'invalid'],
    ['Zé & Cia', 'invalid'],
  ])('The card form answers the name "%s" with "%s", in the browser and at the server', (holder, message) => {
    expect(errorsOf({ holder })).toEqual({ holder: message });
    expect(isComplete('holder', holder, '')).toBe(false);
  });

  it.each(['José D’Ávila', "ANA O'NEIL", 'João P. Souza-Lima', '王小明'])(
    'The card form accepts the name "%s"',
    (holder) => {
      expect(errorsOf({ holder })).toEqual({});
      expect(isComplete('holder', holder, '')).toBe(true);
    },
  );

  it.each([
    ['', 'missing'],
    ['13/29', 'invalid'],
    ['00/29', 'invalid'],
    ['1229/', 'invalid'],
    ['12/1929', 'invalid'],
    ['12/99', 'invalid'],
    ['02/26', 'expired'],
  ])('The card form answers the expiry "%s" with "%s"', (expiry, message) => {
    expect(errorsOf({ expiry })).toEqual({ expiry: message });
  });

  it.each(['03/26', '0326', '03 / 26', '03/2026', '032026', '2026-03', '2026/03', '202603', '2026-03-31'])(
    'The card form accepts the expiry "%s" in that month, in the browser and at the server',
    (expiry) => {
      expect(errorsOf({ expiry })).toEqual({});
      expect(isComplete('expiry', expiry.replaceAll(' ', ''), '')).toBe(true);
      if (!expiry.startsWith('2026')) return;
      expect(monthFirst(expiry)).toBe('03/2026');
      expect(parse({ expiry, cvv: '' }).kept.expiry).toBe('03/2026');
    },
  );

  it('The card form accepts a card to the last minute of its month in Brasília, and no longer', () => {
    expect(errorsOf({ expiry: '03/26' }, new Date('2026-04-01T02:59:59.999Z'))).toEqual({});
    expect(errorsOf({ expiry: '03/26' }, new Date('2026-04-01T03:00:00.000Z'))).toHaveProperty('expiry');
    expect(errorsOf({ expiry: '12/26' }, new Date('2027-01-01T02:59:59.999Z'))).toEqual({});
  });

  it.each([
    ['', '4242424242424242', 'missing'],
    ['12', '4242424242424242', 'invalid'],
    ['1234', '4242424242424242', 'invalid'],
    ['123', '378282246310005', 'invalid'],
    ['12a', '4242424242424242', 'invalid'],
  ])('The card form answers the CVV "%s" of %s with "%s"', (cvv, number, message) => {
    expect(errorsOf({ cvv, number })).toEqual({ cvv: message });
  });

  it('The card form accepts four digits of an American Express', () => {
    expect(errorsOf({ cvv: '1234', number: '3782 822463 10005' })).toEqual({});
  });

  it('The card form answers all wrong fields at once', () => {
    expect(Object.keys(errorsOf({ number: '', holder: '', expiry: '', cvv: '' }))).toEqual([
      'number',
      'holder',
      'expiry',
      'cvv',
    ]);
  });

  it('The card form keeps name and expiry, unless a card number was typed into them', () => {
    expect(parse({ cvv: '' }).kept).toEqual({ holder: 'Maria da Silva', expiry: '12/29' });
    expect(parse({ holder: 'Maria 4242424242424242', expiry: '4242424242424242' }).kept).toEqual({
      holder: '',
      expiry: '',
    });
    expect(parse({ expiry: '424242424' }).kept.expiry).toBe('');
  });
});

describe('the way back to the shop', () => {
  const code = { psa_order_code: 'PSC-1' };

  it.each([
    ['https://loja.example', 'https://loja.example/?psa_order_code=PSC-1'],
    ['https://loja.example/a?b=%20c+d#e', 'https://loja.example/a?b=%20c+d&psa_order_code=PSC-1#e'],
    ['https://loja.example/?psa_order_code=other&x=1', 'https://loja.example/?x=1&psa_order_code=PSC-1'],
  ])('The return URL adds the order code to %s', (url, expected) => {
    expect(returnUrl(url, code)).toBe(expected);
  });

  it('The return URL says that the payer cancelled', () => {
    expect(returnUrl('http://localhost:3000/', { ...code, psa_cancelled: '1' })).toBe(
      'http://localhost:3000/?psa_order_code=PSC-1&psa_cancelled=1',
    );
  });

  it.each([null, 'javascript:alert(1)', 'data:text/html,x', '/relative', ''])(
    'The return URL is none for %s',
    (url) => {
      expect(returnUrl(url, code)).toBeNull();
    },
  );

  it('The policy names the shop only where its host cannot add a directive', () => {
    expect(cspSource('https://loja.example:8443/a')).toBe('https://loja.example:8443');
    expect(cspSource('https://a;sandbox/')).toBeNull();
    expect(cspSource('https://a,default-src/')).toBeNull();
    expect(cspSource('https://[::1]/')).toBeNull();
    expect(cspSource(null)).toBeNull();
  });
});
