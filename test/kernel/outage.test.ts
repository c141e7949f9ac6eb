import { expect, test } from 'vitest';
import {
  behindChange,
  describeOutage,
  type OutageError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import { CommitOutcomeUnknown, NoConnection } from '../../server/src/state/db/database.ts';

test('an outage that did nothing may be repeated by any client, and one of unknown outcome by its key alone', () => {
  expect(describeOutage(new NoConnection('away'))).toMatchObject({ status: 503, retryAfterSeconds: 1 });
  expect(describeOutage(new CommitOutcomeUnknown('lost'))).toMatchObject({
    status: 504,
    retryAfterSeconds: null,
  });
  for (const outage of [new NoConnection('away'), new CommitOutcomeUnknown('lost')])
    expect(describeOutage(outage).message).toContain('with the same idempotency key');
});

test('an outage behind a change is one of unknown outcome, and nothing else is changed', () => {
  const away = new NoConnection('away');
  const behind = behindChange(away) as OutageError;
  expect(describeOutage(behind).status).toBe(504);
  expect(behind.cause).toBe(away);
  for (const error of [new CommitOutcomeUnknown('lost'), new ValidationError([]), new TypeError('no')])
    expect(behindChange(error)).toBe(error);
});
