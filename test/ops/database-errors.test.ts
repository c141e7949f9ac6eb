import { expect, test } from 'vitest';
import { NoConnection, StatementInterrupted } from '../../server/src/db/database.ts';
import { describeDatabaseError } from '../../server/src/ops/database-errors.ts';

const config = { databaseUrl: 'postgres://u:hidden@db.example/psa' };

test('A database that refuses connections, or does not answer, is explained in one line', () => {
  const refused = Object.assign(new Error('connect to u:hidden'), { code: 'ECONNREFUSED' });
  for (const error of [refused, new NoConnection(refused.message, { cause: refused })])
    expect(describeDatabaseError(error, config)).toBe(
      'DATABASE_URL: the database did not let us in (ECONNREFUSED)',
    );
  const timeout = new Error('Query read timeout');
  expect(describeDatabaseError(new StatementInterrupted(timeout.message, { cause: timeout }), config)).toBe(
    'DATABASE_URL: the database is not available: Query read timeout',
  );
});

test('A user without rights in the database is explained in one line', () => {
  const denied = Object.assign(new Error('permission denied for schema public'), { code: '42501' });
  expect(describeDatabaseError(denied, config)).toMatch(
    /^DATABASE_URL: the user has to own the database[^\n]*\(42501: [^\n]*\)$/,
  );
});

test('An error that is not the database’s is not explained, nor any error without a DATABASE_URL', () => {
  expect(describeDatabaseError(new TypeError('an internal fault'), config)).toBeNull();
  expect(describeDatabaseError(new NoConnection('away'), { databaseUrl: undefined })).toBeNull();
});
