import { expect, onTestFinished, test } from 'vitest';
import { scale } from '../support/scale.ts';
import { takeDatabases } from './facade/databases.ts';
import { playStories } from './facade/stories.ts';
import { seedsFrom, textOfStoryFailure } from './failure.ts';

const STORIES = scale('STORIES');

test(`${STORIES} stories of a client that follows the guidance break no law`, {
  timeout: 600_000 + STORIES * 6_000,
}, async () => {
  const { urls, release } = await takeDatabases(STORIES);
  onTestFinished(release);
  const { counts, failures } = await playStories({ databases: urls, seeds: seedsFrom(1, STORIES) });
  expect(failures.map(textOfStoryFailure)).toEqual([]);
  // A client that did nothing would break no law either.
  const happened = ['request: RequestPayoutSuccess', 'an invoice of a withdrawal: paid', 'a transfer: done'];
  const happenedInMany = [
    ...['request: RequestSubaccountPayoutSuccess', 'an invoice of a subaccount: paid', 'an instance killed'],
    ...['a write: lose after', 'a write: take effect late', 'a write: nameless', 'a false webhook'],
    ...['a completed payout is reversed'],
    ...['the client sees a payout in doubt', 'never made', 'another key for an invoice', 'an update'],
    ...[
      'a request that arrives late',
      'the database is restored',
      'a statement adds up',
      'a statement has a payout',
    ],
    ...['a request without an answer', 'a webhook repeated'],
    ...['a refund: done', 'a refund is absent', 'start: CHECKOUT_TOKEN_PAUSED', 'the records are confirmed'],
    ...['a payment by card: paid', 'a payment by pix: paid', 'a page: paid', 'a token is gone'],
  ];
  for (const each of STORIES >= 60 ? [...happened, ...happenedInMany] : happened)
    expect([each, (counts.get(each) ?? 0) > 0]).toEqual([each, true]);
});
