import { expect, test } from 'vitest';
import {
  describeDatabaseError,
  describeMissingDescriptors,
} from '../../../server/src/programs/ops/database-errors.ts';
import { NoConnection, StatementInterrupted } from '../../../server/src/state/db/database.ts';
import { DataDirError } from '../../../server/src/state/db/lock.ts';
import { MigrationError } from '../../../server/src/state/db/migration-error.ts';

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

test.each([
  ['the server', new Error("EMFILE: too many open files, scandir 'migrations'")],
  ['the worker of PGlite', new Error('Worker initialization failure: EMFILE')],
  [
    'PGlite',
    new DataDirError(
      'PSA_DATA_DIR: PGlite did not start: FATAL: could not read directory "pg_notify": No file descriptors available',
    ),
  ],
  [
    'a migration',
    new MigrationError(
      'Migration 0001_spine failed: could not open file "base/5/1": No file descriptors available',
    ),
  ],
  ['a cause', new Error('unreadable', { cause: new Error('ENFILE: file table overflow') })],
])('Too few file descriptors are explained in one line, where %s has met that', (_, error) => {
  expect(describeMissingDescriptors(error)).toMatch(
    /^This process may not open enough files: [^\n]*ulimit -n[^\n]*$/,
  );
});

test('Other errors are none of too few file descriptors', () => {
  expect(describeMissingDescriptors(new Error('PGlite did not start', { cause: 'EMFILE' }))).toBeNull();
  expect(describeMissingDescriptors('EMFILE')).toBeNull();
});
