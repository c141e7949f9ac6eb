import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DeliveryChange,
  decideCreate,
  decideDeliver,
  decideRevoke,
  type PaidContent,
  type StoredCode,
  waits,
} from '../../../server/src/catalogue/deliveries/decisions.ts';
import {
  contentOf,
  createDeliveryInput,
  MAX_CODES,
  type StoredDelivery,
} from '../../../server/src/catalogue/deliveries/model.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { PaymentError } from '../../../server/src/kernel/errors.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const PRODUCT = 'ab'.repeat(12);

/**
 * A product, its content as the service decides it, and a second model: which payment has which code, in the order of
 * the payments.
 */
function createShop() {
  let now = NOW;
  let made = 0;
  const deliveries = new Map<string, StoredDelivery>();
  const codes = new Map<string, StoredCode>();
  const given = new Map<string, PaidContent>();
  /** The payment to which each shown code belongs. */
  const owners = new Map<string, string>();
  const events = new Map<string, string[]>();

  function apply(change: DeliveryChange | null): void {
    for (const delivery of change?.deliveries ?? []) deliveries.set(delivery.deliveryId, delivery);
    for (const code of change?.codes ?? []) codes.set(code.hash, code);
    for (const content of change?.given ?? []) {
      given.set(content.payment.id, content);
      for (const { codeHash } of content.items) {
        if (codeHash === null) continue;
        // Law 12: a code of one payment is never given to another, whatever becomes of the first.
        expect(owners.get(codeHash) ?? content.payment.id).toBe(content.payment.id);
        owners.set(codeHash, content.payment.id);
      }
    }
    for (const { kind, snapshot } of change?.announced ?? [])
      events.set(snapshot.resource.id, [...(events.get(snapshot.resource.id) ?? []), kind]);
  }

  const live = () => [...deliveries.values()].filter(({ deletedAt }) => !deletedAt);
  const inStock = (deliveryId: string) =>
    [...codes.values()].filter((code) => code.deliveryId === deliveryId && !code.isDelivered);
  const waiting = () => [...given.values()].filter(waits);

  function check(): void {
    for (const { deliveryId, kind, deliveredCount, remainingCount } of live()) {
      if (kind === 'codes') expect(remainingCount).toBe(inStock(deliveryId).length);
      const had = [...given.values()].flatMap(({ items }) =>
        items.filter((item) => item.deliveryId === deliveryId && item.deliveredAt),
      );
      expect(deliveredCount).toBe(had.length);
      // No payment waits while codes are left.
      if (kind === 'codes' && remainingCount! > 0) expect(waiting()).toEqual([]);
    }
    for (const code of codes.values()) expect(code.isDelivered).toBe(owners.has(code.hash));
    for (const [id, { items }] of given)
      expect(events.get(id)!.filter((kind) => kind === 'delivery.delivered')).toHaveLength(
        items.filter(({ deliveredAt }) => deliveredAt).length,
      );
  }

  return {
    given,
    owners,
    waiting,
    check,
    pay(id: string, earlierMs: number) {
      now = plusMs(now, 1_000);
      const offers = live().map((delivery) => ({
        delivery,
        next: delivery.kind === 'codes' ? (inStock(delivery.deliveryId)[0] ?? null) : null,
      }));
      const sale = {
        payment: { type: 'payment' as const, id },
        productId: PRODUCT,
        callbackUrl: null,
        paidAt: plusMs(now, -earlierMs),
      };
      apply(decideDeliver(offers, sale, { before: given.get(id) ?? null, now }));
    },
    add(content: Parameters<typeof contentOf>[0]): boolean {
      made += 1;
      const before = waiting();
      try {
        const { delivery, ...change } = decideCreate(contentOf(content), {
          deliveryId: String(made).padStart(24, '0'),
          productId: PRODUCT,
          deliveries: live(),
          waiting: before,
          now,
          known: (hash) => codes.has(hash),
        });
        apply(change);
        expect(deliveries.get(delivery.deliveryId)).toEqual(delivery);
        // The oldest payment is served first: none that still waits was paid before one that was served.
        const served = before.filter((each) => !waits(given.get(each.payment.id)!));
        for (const { paidAt } of waiting())
          for (const each of served) expect(each.paidAt.getTime()).toBeLessThanOrEqual(paidAt.getTime());
        return true;
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        return false;
      }
    },
    refund(which: number) {
      const content = [...given.values()][which % Math.max(1, given.size)];
      apply(decideRevoke(content ?? null));
    },
    remove(which: number) {
      const delivery = live()[which % Math.max(1, live().length)];
      if (!delivery) return;
      deliveries.set(delivery.deliveryId, { ...delivery, deletedAt: now });
      for (const { hash } of inStock(delivery.deliveryId)) codes.delete(hash);
    },
  };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ pay: fc.nat(30), earlierMs: fc.constantFrom(0, 0, 5_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ codes: fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ text: fc.string({ minLength: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ refund: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.nat(10) }) },
);

describe('the laws of deliveries', () => {
  test('In any history each code goes to at most one payment, and nobody waits beside a stock', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const shop = createShop();
        for (const each of steps) {
          if ('pay' in each) shop.pay(`psa_${each.pay}`, each.earlierMs);
          else if ('codes' in each) shop.add({ codes: each.codes.map((code) => `código ${code}`) });
          else if ('text' in each) shop.add({ text: each.text });
          else if ('refund' in each) shop.refund(each.refund);
          else shop.remove(each.remove);
          shop.check();
        }
      }),
      { numRuns: generated(300) },
    );
  });

  test('As many codes as are added are given away, and the rest of the payers wait', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }), (payers, lots) => {
        const shop = createShop();
        shop.add({ codes: ['primeiro'] });
        for (let id = 0; id < payers; id += 1) shop.pay(`psa_${id}`, 0);
        let added = 1;
        for (const [lot, count] of lots.entries()) {
          shop.add({ codes: Array.from({ length: count }, (_, index) => `${lot} ${index}`) });
          added += count;
        }
        expect(shop.owners.size).toBe(Math.min(payers, added));
        expect(shop.waiting()).toHaveLength(Math.max(0, payers - added));
      }),
      { numRuns: generated(100) },
    );
  });
});

describe('the input of a delivery', () => {
  const accepts = (content: object) =>
    createDeliveryInput
      .safeParse({ productId: PRODUCT, content })
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()) ?? [];
  const codes = (count: number) => Array.from({ length: count }, (_, index) => `C-${index}`);

  test.each<[string, object, string[]]>([
    ['a text of 4000 characters', { text: 'x'.repeat(4_000) }, []],
    ['a link of 2000 characters', { link: `https://a.example/${'x'.repeat(1_982)}` }, []],
    ['1000 codes of 500 characters', { codes: codes(1_000).map((code) => code.padEnd(500, '.')) }, []],
    ['null beside the one member', { text: 'Olá', link: null }, []],
    ['nothing', {}, ['content must have exactly one of text, link and codes']],
    ['null', { text: null }, ['content must have exactly one of text, link and codes']],
    ['two members', { text: 'a', codes: ['b'] }, ['content must have exactly one of text, link and codes']],
    ['an empty text', { text: '' }, ['content.text must not be empty']],
    [
      'a text of 4001 characters',
      { text: 'x'.repeat(4_001) },
      ['content.text must have at most 4000 characters'],
    ],
    ['no codes', { codes: [] }, ['content.codes must have at least one code']],
    ['1001 codes', { codes: codes(MAX_CODES + 1) }, ['content.codes must have at most 1000 codes']],
    ['a code twice', { codes: ['segredo', 'b', 'segredo'] }, ['content.codes.2 is there twice']],
    ['a blank text', { text: ' \u200b' }, ['content.text must not be blank']],
    ['an empty code', { codes: [''] }, ['content.codes.0 must not be empty']],
    ['a blank code', { codes: ['a', ' '] }, ['content.codes.1 must not be blank']],
    ['a long code', { codes: ['x'.repeat(501)] }, ['content.codes.0 must have at most 500 characters']],
    [
      'a script',
      { link: 'javascript:alert(1)' },
      ['content.link must be an absolute http or https URL without credentials'],
    ],
    ['http', { link: 'http://a.example' }, ['content.link must be an https URL']],
    [
      'http with a tab in it',
      { link: 'ht\ttp://a.example' },
      [
        'content.link must be an absolute http or https URL without credentials',
        'content.link must be an https URL',
      ],
    ],
    [
      'http behind a control',
      { link: '\u0001http://a.example' },
      [
        'content.link must be an absolute http or https URL without credentials',
        'content.link must be an https URL',
      ],
    ],
    [
      'credentials',
      { link: 'https://a:b@c.example' },
      ['content.link must be an absolute http or https URL without credentials'],
    ],
  ])('Content of %s is judged by its rules, which name no code', (_, content, issues) => {
    expect(accepts(content)).toEqual(issues);
    expect(issues.join()).not.toContain('segredo');
  });
});
