import { expect, test } from 'vitest';
import { formatBackup, formatResult } from '../../../server/src/programs/cli/format.ts';

test.each([
  ['/var/backups/psa.gz', '/var/backups/psa.gz'],
  ['C:\\backups\\psa.gz', 'C:\\backups\\psa.gz'],
  ['/home/ana/My files/psa.gz', '"/home/ana/My files/psa.gz"'],
  ['/srv/$HOME "x"/psa.gz', '"/srv/\\$HOME \\"x\\"/psa.gz"'],
])('The summary of the backup %s contains a restore command for the shell', (file, quoted) => {
  const saved = {
    file,
    bytes: 1,
    engine: 'pglite',
    takenAt: '2026-11-22T00:00:00Z',
    schema: '0001_x',
    rows: {},
  } as const;
  expect(formatBackup(saved)).toContain(`npm run psa -- restore ${quoted}\n`);
});

test('LTC that wait for the operator are shown in LTC, beside the amount that was asked', () => {
  const payment = {
    paymentId: 'psa_1',
    accountId: 'acc_1',
    status: 'expired',
    reason: 'paid_elsewhere',
    amountCents: 4_990,
    askedLitoshi: 8_149_068,
    litoshi: 108_149_068,
    seenAt: '2026-11-26T12:00:00.000Z',
  };
  const table = `payment  account  status   reason          reais  ltc asked   ltc came    seen
psa_1    acc_1    expired  paid elsewhere  49.90  0.08149068  1.08149068  2026-11-26 12:00:00Z
`;
  expect(formatResult('ltc.list', { payments: [payment], next: null })).toBe(table);
  expect(formatResult('ltc.list', { payments: [payment], next: 'psa_1' })).toBe(
    `${table}More wait: npm run psa -- ltc list --after psa_1\n`,
  );
  expect(formatResult('ltc.list', { payments: [], next: null })).toBe('None waits.\n');
});

test('The settlement of a doubt repeats what the list of doubts has named', () => {
  const doubt = {
    id: 'int_1',
    accountId: 'acc_1',
    environment: 'live',
    operation: 'requestPayout',
    key: 'pedido 7/2026',
    amountCents: 5_000,
    requestedAt: '2026-03-02T12:00:00.000Z',
    lookups: 3,
    finding: 'SAQ-5 may be it',
  };
  const request =
    'requestPayout of 50.00 under the key pedido 7/2026, of acc_1 live, at 2026-03-02 12:00:00Z';
  expect(formatResult('doubts.settle', { doubt, made: null })).toBe(
    `int_1 has made nothing: ${request}. Its last lookup has found: SAQ-5 may be it.\n`,
  );
  expect(formatResult('doubts.settle', { doubt: { ...doubt, finding: null }, made: 'SAQ-5' })).toBe(
    `int_1 has made SAQ-5: ${request}.\n`,
  );
});
