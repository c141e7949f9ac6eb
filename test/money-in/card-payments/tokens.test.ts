import { describe, expect, test } from 'vitest';
import { tokens } from '../../../server/src/access/collections.ts';
import { NotFoundError } from '../../../server/src/kernel/errors.ts';
import {
  createCheckoutTokenInput,
  decidePauseByMerchant,
  decidePauseForDeclines,
} from '../../../server/src/money-in/card-payments/tokens/model.ts';
import { createTokenAdministration } from '../../../server/src/money-in/card-payments/tokens/service.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';

describe('a checkout token', () => {
  const input = (rest: Record<string, unknown>) => ({ amount: { fixedCents: 500 }, ...rest });
  const PRODUCT = 'a'.repeat(24);
  test.each<[string[] | null, Record<string, unknown>]>([
    [null, input({})],
    [null, input({ reusable: null, description: null })],
    [
      ['allowedOrigins', 'expiresInSeconds', 'trustedDocumentsOnly'],
      input({ expiresInSeconds: null, allowedOrigins: null, trustedDocumentsOnly: null }),
    ],
    [null, input({ expiresInSeconds: 60, reusable: true, description: 'Caneca' })],
    [null, input({ expiresInSeconds: 31_536_000 })],
    [null, { amount: { range: { minCents: 100, maxCents: 100 } } }],
    [null, { amount: { range: { minCents: 100, maxCents: 101 }, fixedCents: null, productId: null } }],
    [null, { amount: { productId: PRODUCT } }],
    [null, input({ allowedOrigins: [] })],
    [null, input({ allowedOrigins: Array(20).fill('https://shop.example') })],
    [null, input({ externalId: '1042' })],
    [null, input({ externalId: '1042', reusable: false })],
    [null, input({ externalId: null, reusable: true })],
    [['externalId'], input({ externalId: '1042', reusable: true })],
    [['externalId'], input({ externalId: '' })],
    [['externalId'], input({ externalId: 'x'.repeat(101) })],
    [['externalId'], input({ externalId: 'line\nbreak' })],
    [['externalId'], input({ externalId: 1042 })],
    [['allowedOrigins'], input({ allowedOrigins: Array(21).fill('https://shop.example') })],
    [['allowedOrigins.0'], input({ allowedOrigins: ['https://shop.example/page'] })],
    [['expiresInSeconds'], input({ expiresInSeconds: 59 })],
    [['expiresInSeconds'], input({ expiresInSeconds: 60.5 })],
    [['expiresInSeconds'], input({ expiresInSeconds: 31_536_001 })],
    [['reusable'], input({ reusable: 'yes' })],
    [['description'], input({ description: '' })],
    [['amount.range.maxCents'], { amount: { range: { minCents: 101, maxCents: 100 } } }],
    [['amount.range.minCents'], { amount: { range: { minCents: 79, maxCents: 100 } } }],
    [['amount.range.maxCents'], { amount: { range: { minCents: 80, maxCents: 10_000_000_001 } } }],
    [['amount.fixedCents'], { amount: { fixedCents: 79 } }],
    [['amount.fixedCents'], { amount: { fixedCents: 79 }, methods: null }],
    [['amount.fixedCents'], { amount: { fixedCents: 79 }, methods: ['pix', 'card'] }],
    [['amount.fixedCents'], { amount: { fixedCents: 0 } }],
    [['amount.fixedCents'], { amount: { fixedCents: 1.5 } }],
    [['amount.fixedCents'], { amount: { fixedCents: 10_000_000_001 } }],
    [null, { amount: { fixedCents: 80 }, methods: ['pix', 'card'] }],
    [null, { amount: { fixedCents: 1 }, methods: ['pix'] }],
    [null, { amount: { range: { minCents: 1, maxCents: 10_000_000_000 } }, methods: ['pix'] }],
    [['amount.fixedCents'], { amount: { fixedCents: 0 }, methods: ['pix'] }],
    [['amount.fixedCents'], { amount: { fixedCents: 10_000_000_001 }, methods: ['pix'] }],
    [['amount.range.minCents'], { amount: { range: { minCents: 0, maxCents: 79 } }, methods: ['pix'] }],
    [['amount.range.maxCents'], { amount: { range: { minCents: 2, maxCents: 1 } }, methods: ['pix'] }],
    [
      ['amount.range.minCents', 'amount.range.maxCents'],
      { amount: { range: { minCents: 1, maxCents: 79 } }, methods: ['card'] },
    ],
    [['methods'], { amount: { fixedCents: 1 }, methods: ['pix', 'pix'] }],
    [['amount.productId'], { amount: { productId: 'x' } }],
    [['amount'], { amount: {} }],
    [['amount'], { amount: { fixedCents: null, range: null, productId: null } }],
    [['amount'], { amount: { fixedCents: 500, productId: PRODUCT } }],
    [['amount'], { amount: { fixedCents: 500, range: { minCents: 100, maxCents: 200 } } }],
    [['amount'], { amount: { productId: PRODUCT, range: { minCents: 100, maxCents: 200 } } }],
    [['amount'], {}],
  ])('A checkout token’s input is refused for %j: %j', (fields, asked) => {
    const { error } = createCheckoutTokenInput.safeParse(asked);
    const paths = error && [...new Set(error.issues.map(({ path }) => path.join('.')))];
    expect(paths ?? null).toEqual(fields);
  });

  test.each<[string, Record<string, unknown>]>([
    ['must be at least 80 (R$ 0,80)', {}],
    ['must be at least 80 (R$ 0,80)', { methods: ['card', 'pix'] }],
    ['must be at least 1', { methods: ['pix'] }],
  ])('An amount of nothing is refused by the minimum of the token’s methods: %s', (message, given) => {
    const { error } = createCheckoutTokenInput.safeParse({ amount: { fixedCents: 0 }, ...given });
    expect(error?.issues.map((issue) => issue.message)).toEqual([message]);
  });

  test('A checkout token’s input is kept as it was given', () => {
    const asked = {
      amount: { range: { minCents: 100, maxCents: 200 } },
      reusable: true,
      expiresInSeconds: 60,
      allowedOrigins: ['https://shop.example'],
      description: 'Caneca',
    };
    expect(createCheckoutTokenInput.parse(asked)).toEqual(asked);
  });
});

describe('a pause of a checkout token', () => {
  const MINUTE = 60_000;
  const at = (minutes: number) => new Date(Date.UTC(2026, 2, 2, 12) + minutes * MINUTE);

  test('A pause for declined cards lasts 5 minutes, and twice as long each time that it soon returns', () => {
    const lengths: number[] = [];
    let now = 0;
    let pause = decidePauseForDeclines(null, at(now));
    for (let time = 0; time < 6; time += 1) {
      const { pausedAt, pausedUntil } = pause!;
      lengths.push((pausedUntil!.getTime() - pausedAt.getTime()) / MINUTE);
      expect(decidePauseForDeclines(pause, new Date(pausedUntil!.getTime() - 1))).toBeNull();
      now += lengths.at(-1)! + 59;
      pause = decidePauseForDeclines(pause, at(now));
    }
    expect(lengths).toEqual([5, 10, 20, 40, 60, 60]);
    expect(decidePauseForDeclines(pause, new Date(pause!.pausedUntil!.getTime() + 60 * MINUTE))).toEqual({
      reason: 'declines',
      pausedAt: new Date(pause!.pausedUntil!.getTime() + 60 * MINUTE),
      pausedUntil: new Date(pause!.pausedUntil!.getTime() + 65 * MINUTE),
    });
  });

  test('A merchant’s pause outlasts any for declined cards, and is followed by a short one', () => {
    const open = decidePauseByMerchant(null, at(0));
    expect(open).toEqual({ reason: 'merchant', pausedAt: at(0), pausedUntil: null });
    expect(decidePauseForDeclines(open, at(100_000))).toBeNull();
    const ended = decidePauseByMerchant(600, at(0));
    expect(ended.pausedUntil).toEqual(at(10));
    expect(decidePauseForDeclines(ended, at(9))).toBeNull();
    expect(decidePauseForDeclines(ended, at(10))?.pausedUntil).toEqual(at(15));
  });

  test.each([0, -1, 1.5, Number.NaN, 31_536_001])(
    'A merchant’s pause lasts from 1 second to a year: not %d',
    (seconds) => {
      expect(() => decidePauseByMerchant(seconds, at(0))).toThrow('seconds: must lie from 1 to 31536000');
    },
  );
});

describeOnDatabase('checkout tokens', (open) => {
  test('Checkout tokens are paused and resumed by their text or their id, in any account, each with an event', async () => {
    const database = await open();
    const core = await startCore({ database });
    const { committer, clock } = core;
    const administration = createTokenAdministration({ database, committer, clock, credentials: tokens });
    const { token } = await core.checkoutTokens.create(core.tenant, null, {
      amount: { fixedCents: 500 },
      reusable: true,
    });
    const { token: paused } = await administration.pauseToken({ token });
    expect(paused).toEqual({
      tokenId: expect.stringMatching(/^tok_[0-9a-f]{24}$/),
      reason: 'merchant',
      pausedAt: core.clock.now(),
      pausedUntil: null,
    });
    expect(await administration.listPausedTokens()).toEqual({ tokens: [paused] });
    const { tokenId } = paused;
    const until = new Date(core.clock.now().getTime() + 3_600_000);
    expect((await administration.pauseToken({ token: tokenId, minutes: 60 })).token.pausedUntil).toEqual(
      until,
    );
    expect(await administration.resumeToken({ token: tokenId })).toEqual({ tokenId });
    // A second resumption changes nothing, and is no event.
    expect(await administration.resumeToken({ token })).toEqual({ tokenId });
    expect(await administration.listPausedTokens()).toEqual({ tokens: [] });
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 10 });
    expect(events.map(({ kind, resourceId, snapshot }) => ({ kind, resourceId, snapshot }))).toEqual([
      { kind: 'checkout_token.paused', resourceId: tokenId, snapshot: { tokenId, pause: without(paused) } },
      {
        kind: 'checkout_token.paused',
        resourceId: tokenId,
        snapshot: { tokenId, pause: { ...without(paused), pausedUntil: until } },
      },
      { kind: 'checkout_token.resumed', resourceId: tokenId, snapshot: { tokenId, pause: null } },
    ]);
    await core.access.revokeToken(core.tenant, token);
    for (const named of [token, tokenId, 'tok_unknown', `ps_checkout_${'x'.repeat(43)}`])
      for (const change of [administration.pauseToken, administration.resumeToken])
        await expect(change({ token: named })).rejects.toBeInstanceOf(NotFoundError);
  });
});

function without<Paused extends { tokenId: string }>({ tokenId: _, ...pause }: Paused) {
  return pause;
}
