import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { ValidationError } from '../../server/src/kernel/errors.ts';
import { BULK_PAGE, decidePaced, nextPageAt } from '../../server/src/webhooks/bulk.ts';
import { decideConfigure } from '../../server/src/webhooks/endpoint-changes.ts';
import {
  assertEndpointUrl,
  parseChanges,
  signingSecrets,
  type WebhookEndpoint,
} from '../../server/src/webhooks/endpoints.ts';
import {
  ATTEMPT_TIMEOUT_MS,
  isWebhookId,
  mayBeCalled,
  newWebhookId,
  type WebhookDelivery,
} from '../../server/src/webhooks/model.ts';
import {
  EVENTS,
  isSent,
  OPTIONAL_WEBHOOK_EVENTS,
  parseOptionalEvents,
  type SentName,
  WEBHOOK_EVENTS,
} from '../../server/src/webhooks/sent-events.ts';
import {
  decideAttempt,
  decideRedeliver,
  heldBackUntil,
  isHeldBack,
} from '../../server/src/webhooks/series.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const SECOND = 1_000;
const WAITS = [5, 30, 120, 600, 3_600, 21_600].map((seconds) => seconds * SECOND);

const delivery = (given: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  webhookId: 'whd_0123456789abcdef01234567',
  event: 'card_payment.paid',
  endpointId: null,
  url: 'https://padaria.example/hook',
  status: 'pending',
  attempts: 0,
  failures: 0,
  nextAttemptAt: NOW,
  responseStatus: null,
  responseClass: null,
  resource: 'card_payment',
  resourceId: 'PSC-1',
  subjectType: null,
  subjectId: null,
  createdAt: NOW,
  ...given,
});

const failing = (of: WebhookDelivery, random = 0) =>
  decideAttempt(of, { delivered: false, now: NOW, random });

describe('an attempt', () => {
  test('A successful attempt ends the delivery', () => {
    const after = decideAttempt(delivery(), { delivered: true, now: NOW, random: 0 });
    expect(after).toMatchObject({ status: 'delivered', attempts: 1, failures: 0, nextAttemptAt: null });
  });

  test('A failed attempt is repeated after 5 s, 30 s, 2 min, 10 min, 1 h and 6 h, and the seventh is the last', () => {
    let current = delivery();
    for (const [index, wait] of WAITS.entries()) {
      current = failing(current);
      expect(current).toMatchObject({ status: 'pending', attempts: index + 1 });
      expect(current.nextAttemptAt).toEqual(plusMs(NOW, wait));
    }
    expect(failing(current)).toMatchObject({ status: 'exhausted', attempts: 7, nextAttemptAt: null });
  });

  test('An attempt is never made before its time, and at most a fifth of the wait later', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, random) => {
          const { nextAttemptAt } = failing(delivery({ failures, attempts: failures }), random);
          const waitMs = nextAttemptAt!.getTime() - NOW.getTime();
          expect(waitMs).toBeGreaterThanOrEqual(WAITS[failures]!);
          expect(waitMs).toBeLessThanOrEqual(WAITS[failures]! * 1.2);
        },
      ),
    );
  });

  test.each([true, false])(
    'An attempt of a settled delivery is counted and changes nothing else (delivered: %s)',
    (delivered) => {
      const settled = delivery({ status: 'delivered', attempts: 1, nextAttemptAt: null });
      expect(decideAttempt(settled, { delivered, now: NOW, random: 0 })).toEqual({ ...settled, attempts: 2 });
    },
  );
});

describe('a redelivery', () => {
  test.each(['delivered', 'exhausted'] as const)(
    'A redelivery of a delivery that is %s begins a new series of attempts',
    (status) => {
      const old = delivery({ status, attempts: 7, failures: 7, nextAttemptAt: null });
      let current = decideRedeliver(old, NOW);
      expect(current).toMatchObject({ status: 'pending', webhookId: old.webhookId, nextAttemptAt: NOW });
      for (let index = 0; index < 7; index += 1) current = failing(current);
      expect(current).toMatchObject({ status: 'exhausted', attempts: 14 });
    },
  );

  test('A redelivery of a waiting delivery is due now, and has no more attempts than before', () => {
    const waiting = delivery({ attempts: 4, failures: 4, nextAttemptAt: plusMs(NOW, 600_000) });
    expect(decideRedeliver(waiting, NOW)).toEqual({ ...waiting, nextAttemptAt: NOW });
  });
});

describe('a later event of a resource', () => {
  const later = delivery();

  test('A later event of a resource waits for an earlier one until it is 30 seconds old', () => {
    const until = plusMs(NOW, 30 * SECOND);
    expect(heldBackUntil(later, [delivery()], NOW)).toEqual(until);
    expect(heldBackUntil(later, [delivery()], plusMs(until, -1))).toEqual(until);
    expect(heldBackUntil(later, [delivery()], until)).toBeNull();
  });

  test('A later event does not wait for an earlier one that is delivered, exhausted or missing', () => {
    const settled = (['delivered', 'exhausted'] as const).map((status) => delivery({ status }));
    expect(heldBackUntil(later, [...settled, null], NOW)).toBeNull();
    expect(heldBackUntil(later, [], NOW)).toBeNull();
    expect(heldBackUntil(later, [...settled, delivery()], NOW)).not.toBeNull();
  });
});

test('a delivery is held back for 30 seconds while no attempt of it was made', () => {
  expect(isHeldBack(delivery(), plusMs(NOW, 30 * SECOND - 1))).toBe(true);
  expect(isHeldBack(delivery(), plusMs(NOW, 30 * SECOND))).toBe(false);
  expect(isHeldBack(delivery({ attempts: 1 }), NOW)).toBe(false);
  for (const status of ['delivered', 'exhausted'] as const)
    expect(isHeldBack(delivery({ status }), NOW)).toBe(false);
});

test('deliveries that are sent again together are due in their order, ten a second, and the next page behind them', () => {
  const held = Array.from({ length: BULK_PAGE }, (_, nth) =>
    delivery({ webhookId: `whd_${nth}`, status: 'held' }),
  );
  const sent = decidePaced(held, NOW);
  expect(sent.map(({ webhookId, status, nextAttemptAt }) => [webhookId, status, nextAttemptAt])).toEqual(
    held.map(({ webhookId }, nth) => [webhookId, 'pending', plusMs(NOW, nth * 100)]),
  );
  expect(nextPageAt(NOW)).toEqual(plusMs(sent.at(-1)!.nextAttemptAt!, 100));
});

test('an attempt has five seconds', () => {
  expect(ATTEMPT_TIMEOUT_MS).toBe(5_000);
});

test('the id of a delivery is a line of plain text, ours or another service’s', () => {
  const ids = Array.from({ length: 20 }, newWebhookId);
  expect(new Set(ids).size).toBe(20);
  for (const id of ids) expect(id).toMatch(/^whd_[0-9a-f]{24}$/);
  for (const id of [...ids, 'a', ' ', '~', 'x'.repeat(255)]) expect(isWebhookId(id)).toBe(true);
  for (const id of ['', 'x'.repeat(256), 'a\n', '\na', 'é', 'a\u0000', '\u007f'])
    expect(isWebhookId(id)).toBe(false);
});

describe('the secret', () => {
  const url = 'https://padaria.example/hook';
  const configured = (endpoint: Parameters<typeof decideConfigure>[0], rotateSecret = false) =>
    decideConfigure(endpoint, {
      url,
      rotateSecret,
      freshSecret: 'whsec_new',
      optionalEvents: null,
      now: NOW,
    });

  test('The secret is shown once', () => {
    const first = configured(null);
    const endpoint = {
      url,
      enabled: true,
      secret: 'whsec_new',
      secretShown: true,
      previousSecrets: [],
      optionalEvents: [],
      failingSince: null,
      further: [],
    };
    expect(first).toEqual({ endpoint, secret: 'whsec_new' });
    expect(configured(first.endpoint)).toEqual({ endpoint: first.endpoint, secret: null });
  });

  test('A secret that has signed before it was shown stays the same and is shown', () => {
    const signed = {
      url: null,
      enabled: true,
      secret: 'whsec_old',
      secretShown: false,
      previousSecrets: [],
      optionalEvents: [],
      failingSince: null,
      further: [],
    };
    expect(configured(signed)).toMatchObject({ secret: 'whsec_old', endpoint: { secret: 'whsec_old', url } });
  });

  test('A new secret is created and shown on request', () => {
    const known = {
      url,
      enabled: true,
      secret: 'whsec_old',
      secretShown: true,
      previousSecrets: [],
      optionalEvents: [],
      failingSince: null,
      further: [],
    };
    expect(configured(known, true)).toMatchObject({ secret: 'whsec_new', endpoint: { secret: 'whsec_new' } });
  });
});

describe('the secrets of before', () => {
  const url = 'https://padaria.example/hook';
  const hours = (count: number) => plusMs(NOW, count * 3_600 * SECOND);
  const endpoint = (...previousSecrets: WebhookEndpoint['previousSecrets']): WebhookEndpoint => ({
    url,
    enabled: true,
    secret: 'whsec_b',
    secretShown: true,
    previousSecrets,
    optionalEvents: [],
    failingSince: null,
    further: [],
  });
  const changed = (
    before: WebhookEndpoint,
    rotateSecret: boolean,
    previousSecretHours: number | null = null,
  ) =>
    decideConfigure(before, {
      url,
      rotateSecret,
      previousSecretHours,
      freshSecret: 'whsec_c',
      optionalEvents: null,
      now: NOW,
    }).endpoint;
  const a = { secret: 'whsec_a', until: hours(20) };

  test.each<[hours: number | null, ends: Record<string, number>]>([
    [null, { whsec_b: 24, whsec_a: 20 }],
    [168, { whsec_b: 168, whsec_a: 20 }],
    [6, { whsec_b: 6, whsec_a: 6 }],
    [0, {}],
  ])('After a rotation with %s hours, those of before sign until their end', (given, ends) => {
    expect(changed(endpoint(a), true, given).previousSecrets).toEqual(
      Object.entries(ends).map(([secret, count]) => ({ secret, until: hours(count) })),
    );
  });

  test('Without a rotation the time of a secret of before is as it was, or shorter, and never longer', () => {
    expect(changed(endpoint(a), false).previousSecrets).toEqual([a]);
    expect(changed(endpoint(a), false, 100).previousSecrets).toEqual([a]);
    expect(changed(endpoint(a), false, 1).previousSecrets).toEqual([{ ...a, until: hours(1) }]);
    expect(changed(endpoint(a), false, 0).previousSecrets).toEqual([]);
  });

  test('A secret that nobody was shown is replaced without a time of its own', () => {
    expect(changed({ ...endpoint(), secretShown: false }, true).previousSecrets).toEqual([]);
  });

  test('One whose time is over signs no more, and is forgotten with the next change', () => {
    const over = { ...a, until: NOW };
    expect(signingSecrets(endpoint(over), NOW)).toEqual(['whsec_b']);
    expect(signingSecrets(endpoint(a), NOW)).toEqual(['whsec_b', 'whsec_a']);
    expect(changed(endpoint(over), false).previousSecrets).toEqual([]);
  });

  test('At most three secrets of before sign', () => {
    const four = changed(endpoint(a, a, a), true).previousSecrets;
    expect(four.map(({ secret }) => secret)).toEqual(['whsec_b', 'whsec_a', 'whsec_a']);
  });

  test.each([-1, 169, 0.5, Number.NaN])('The number of hours %d is refused', (count) => {
    expect(() => parseChanges({ previousSecretHours: count }, false)).toThrow(ValidationError);
  });
});

describe('the optional events', () => {
  test('Every list of events is that of their one record, and a name that is not in it does not compile', () => {
    expect([...WEBHOOK_EVENTS, ...OPTIONAL_WEBHOOK_EVENTS].sort()).toEqual(Object.keys(EVENTS).sort());
    for (const name of WEBHOOK_EVENTS) expect([name, EVENTS[name].optional]).toEqual([name, null]);
    for (const name of OPTIONAL_WEBHOOK_EVENTS) expect([name, EVENTS[name].optional]).not.toContain(null);
    const names: SentName[] = ['payment.paid', 'payment.test.paid'];
    // @ts-expect-error no slice's wire has this event
    names.push('payment.lost');
    expect(names.filter((name) => isSent(name, []))).toEqual(['payment.paid', 'payment.test.paid']);
  });

  test('An optional event is sent where it was opted into, in sandbox under its name there', () => {
    const names = [...OPTIONAL_WEBHOOK_EVENTS, 'withdrawal.test.processing'];
    expect(names.filter((name) => isSent(name, ['withdrawal.processing', 'dispute.opened']))).toEqual([
      'withdrawal.processing',
      'dispute.opened',
      'withdrawal.test.processing',
    ]);
    expect(names.filter((name) => isSent(name, []))).toEqual([]);
  });

  test.each(['card_payment.paid', 'withdrawal.requested', 'withdrawal.test.completed', 'subaccount.payout'])(
    'The event %s is sent without a choice',
    (name) => {
      expect(isSent(name, [])).toBe(true);
    },
  );

  test.each(['invoice.paid', 'payment.paid.twice', 'payment.test', 'Payment.paid', ''])(
    'The event %j, which is in no list, is sent to nobody',
    (name) => {
      // A newer server may have stored an event that this one does not list.
      for (const chosen of [[], [...OPTIONAL_WEBHOOK_EVENTS, name]]) expect(isSent(name, chosen)).toBe(false);
    },
  );

  test('A choice has each event once, in one order, and null says that there is none', () => {
    expect(parseOptionalEvents(['dispute.closed', 'card_payment.expired', 'dispute.closed'])).toEqual([
      'card_payment.expired',
      'dispute.closed',
    ]);
    expect([parseOptionalEvents([]), parseOptionalEvents(null), parseOptionalEvents(undefined)]).toEqual([
      [],
      null,
      null,
    ]);
  });

  test('UNKNOWN is no choice, nor is an event that every account gets', () => {
    for (const event of ['unknown', 'payment.paid', ''])
      expect(() => parseOptionalEvents(['dispute.opened', event])).toThrow(ValidationError);
  });

  const endpoint: WebhookEndpoint = {
    url: 'https://padaria.example/hook',
    enabled: true,
    secret: 'whsec_old',
    secretShown: true,
    previousSecrets: [],
    optionalEvents: ['withdrawal.processing', 'dispute.opened'],
    failingSince: null,
    further: [],
  };
  test.each([
    [null, ['withdrawal.processing', 'dispute.opened']],
    [[], []],
    [['dispute.closed'], ['dispute.closed']],
  ] as const)('The choice %j leads to %j', (optionalEvents, expected) => {
    const { url } = endpoint;
    const decided = decideConfigure(endpoint, {
      url: url!,
      rotateSecret: false,
      freshSecret: 'whsec_new',
      optionalEvents,
      now: NOW,
    });
    expect(decided.endpoint.optionalEvents).toEqual(expected);
  });
});

describe('a URL', () => {
  test.each(['https://padaria.example/hook', 'https://padaria.example:8443/hook?a=1'])(
    'A webhook URL may be %s',
    (url) => {
      expect(mayBeCalled(url, false)).toBe(true);
      expect(mayBeCalled(url, true)).toBe(true);
    },
  );

  test.each([
    'http://padaria.example/hook',
    'http://localhost:3000/hook',
    'http://127.0.0.1:3000',
    'https://[::1]/',
  ])('A webhook URL may be %s on a developer’s own machine alone', (url) => {
    expect(mayBeCalled(url, true)).toBe(true);
    expect(mayBeCalled(url, false)).toBe(false);
    expect(() => assertEndpointUrl(url, false)).toThrow(ValidationError);
  });

  test.each([
    '',
    'nonsense',
    '/hook',
    'ftp://a.example',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://u:p@a.example',
    'https://a.example/\u0000',
    'https://a.example/\ud800',
    `https://a.example/${'x'.repeat(500)}`,
  ])('A webhook URL is never %j', (url) => {
    expect(mayBeCalled(url, false)).toBe(false);
    expect(mayBeCalled(url, true)).toBe(false);
    for (const isPrivate of [true, false]) {
      let refusal: unknown;
      try {
        assertEndpointUrl(url, isPrivate);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path: 'input.url' }] });
    }
  });
});
