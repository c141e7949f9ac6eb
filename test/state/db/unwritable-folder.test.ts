import { expect, test, vi } from 'vitest';
import { DataDirError, lockDataDir } from '../../../server/src/state/db/lock.ts';
import { temporaryFolder } from '../../support/test-program.ts';

// Root may write everywhere, and tests may run as root: the mocked file system refuses as it refuses another user.
const refusal = vi.hoisted(() => ({ code: '' }));
vi.mock('node:fs', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs')>()),
  accessSync() {
    throw Object.assign(new Error('refused'), refusal);
  },
}));

test.each([
  ['EACCES', ' cannot be written (EACCES): run this as its owner'],
  ['EROFS', ' cannot be written (EROFS)'],
])('A data folder that cannot be written is refused with what to do: %s', async (code, said) => {
  refusal.code = code;
  const folder = temporaryFolder();
  await expect(lockDataDir(folder)).rejects.toThrow(new DataDirError(`PSA_DATA_DIR: ${folder}${said}`));
});
