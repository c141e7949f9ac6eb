import { expect, test } from 'vitest';
import { NoConnection, StatementInterrupted } from '../../server/src/db/database.ts';
import { describeDatabaseError } from '../../server/src/ops/database-errors.ts';

const config = { databaseUrl: 'postgres://u:hidden@db.example/psa' };

test('a database that lets nobody in, or says nothing, is one line', () => {
  const refused = Object.assign(new Error('connect to u:hidden'), { code: 'ECONNREFUSED' });
  for (const error of [refused, new NoConnection(refused.message, { cause: refused })])
    expect(describeDatabaseError(error, config)).toBe(
      'DATABASE_URL: the database did not let us in (ECONNREFUSED)',
    );
  const silence = new Error('Query read timeout');
  expect(describeDatabaseError(new StatementInterrupted(silence.message, { cause: silence }), config)).toBe(
    'DATABASE_URL: the database does not do its part: Query read timeout',
  );
});

test('what is no word of the database’s is not, nor anything where there is no server', () => {
  expect(describeDatabaseError(new TypeError('an internal fault'), config)).toBeNull();
  expect(describeDatabaseError(new NoConnection('away'), { databaseUrl: undefined })).toBeNull();
});
