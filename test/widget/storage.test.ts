import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CardPayment } from '../../widget/src/operations.ts';
import {
  attemptId,
  findVisit,
  forgetVisit,
  keyOf,
  lastKey,
  loadVisit,
  newVisit,
  saveVisit,
} from '../../widget/src/storage.ts';

/** Implements the members of Storage that the module uses, with enumerable keys as in a browser. */
function storage(): Storage {
  const store = Object.create({
    getItem: (name: string) => (Object.hasOwn(store, name) ? store[name] : null),
    setItem: (name: string, value: string) => {
      store[name] = value;
    },
    removeItem: (name: string) => {
      delete store[name];
    },
  });
  return store;
}

beforeEach(() => {
  vi.stubGlobal('sessionStorage', storage());
  vi.stubGlobal('localStorage', storage());
});
afterEach(() => vi.unstubAllGlobals());

describe('stored visits', () => {
  it('an attempt id has 128 random bits, and a retry extends it', () => {
    const visit = newVisit();
    expect(visit.base).toMatch(/^[0-9a-z]{22,}$/);
    expect(newVisit().base).not.toBe(visit.base);
    expect(attemptId(visit)).toBe(visit.base);
    expect(attemptId({ ...visit, attempt: 3 })).toBe(`${visit.base}.3`);
  });

  it('a visit is found by its key, and the tab knows its last key', () => {
    const visit = newVisit();
    saveVisit('caneca', visit);
    expect(loadVisit('caneca')).toEqual(visit);
    expect(loadVisit('rede')).toBeUndefined();
    expect(lastKey()).toBe('caneca');
  });

  it('a payment is found by its key in another tab, only for its own resume key', () => {
    saveVisit('caneca', { ...newVisit(), paymentKey: 'PSA-1', paymentToken: 'pay-1' });
    vi.stubGlobal('sessionStorage', storage());
    expect(findVisit('PSA-1')).toMatchObject({ paymentToken: 'pay-1', key: 'caneca' });
    expect(findVisit('PSA-1', 'caneca')).toBeDefined();
    expect(findVisit('PSA-1', 'rede')).toBeUndefined();
  });

  it("a visit is found by its payment's key for a day", () => {
    vi.useFakeTimers({ now: 0 });
    saveVisit('a', { ...newVisit(), paymentKey: 'PSA-1', payment: {} as CardPayment });
    vi.setSystemTime(25 * 3_600_000);
    saveVisit('b', { ...newVisit(), paymentKey: 'PSA-2' });
    expect(findVisit('PSA-1')).toBeUndefined();
    expect(findVisit('PSA-2')).toBeDefined();
    vi.useRealTimers();
  });

  it('a visit that version 0.1.0 has stored is found, with its earlier payments', () => {
    const payment = { __typename: 'CardPayment', orderCode: 'PSC-2', status: 'PENDING' };
    const stored = {
      ...newVisit(),
      ...{ orderCode: 'PSC-2', paymentToken: 'pay-2', payment },
      earlier: [{ orderCode: 'psa_1', paymentToken: 'pay-1' }],
    };
    sessionStorage.setItem('psa-checkout:caneca', JSON.stringify(stored));
    localStorage.setItem(
      'psa-checkout:orders',
      JSON.stringify([{ ...stored, key: 'caneca', savedAt: Date.now() }]),
    );
    const found = { paymentKey: 'PSC-2', payment, earlier: [{ paymentKey: 'psa_1', paymentToken: 'pay-1' }] };
    expect(loadVisit('caneca')).toMatchObject(found);
    expect(findVisit('PSC-2', 'caneca')).toMatchObject(found);
    forgetVisit('caneca');
    expect(findVisit('PSC-2')).toBeUndefined();
  });

  it('a forgotten visit is removed from all storage', () => {
    saveVisit('caneca', { ...newVisit(), paymentKey: 'PSA-1' });
    forgetVisit('caneca');
    expect(loadVisit('caneca')).toBeUndefined();
    expect(findVisit('PSA-1')).toBeUndefined();
    expect(lastKey()).toBeUndefined();
  });

  it('visits are kept in memory where storage is denied', () => {
    const denied = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get: denied });
    Object.defineProperty(globalThis, 'localStorage', { configurable: true, get: denied });
    const visit = newVisit();
    saveVisit('caneca', visit);
    expect(loadVisit('caneca')).toEqual(visit);
    forgetVisit('caneca');
    expect(loadVisit('caneca')).toBeUndefined();
  });

  it('a visit is the same where an old library gives arrays and texts a toJSON of its own', () => {
    const old = [Array.prototype, String.prototype] as { toJSON?: () => string }[];
    const visit = {
      ...newVisit(),
      paymentKey: 'psa_2',
      payment: { returnedCredits: [{ amountCents: 1 }] } as unknown as CardPayment,
      earlier: [{ paymentKey: 'psa_1', paymentToken: 'x' }],
    };
    for (const prototype of old) prototype.toJSON = () => '"[]"';
    try {
      saveVisit('caneca', visit);
    } finally {
      for (const prototype of old) delete prototype.toJSON;
    }
    expect(loadVisit('caneca')).toEqual(visit);
    expect(findVisit('psa_2')).toMatchObject(visit);
  });

  it('different tokens have different keys, which do not contain the token', () => {
    const token = 'psa_ct_0123456789abcdefghijklmnopqrstuvwxyz';
    expect(keyOf(token)).not.toBe(keyOf(`${token.slice(0, -1)}A`));
    expect(keyOf(token).length).toBeLessThan(token.length / 2);
  });
});
