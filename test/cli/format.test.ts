import { expect, test } from 'vitest';
import { formatBackup } from '../../server/src/cli/format.ts';

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
