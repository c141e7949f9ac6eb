import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Linux has a device that is always full.
test.runIf(existsSync('/dev/full'))(
  'A log on a full disk neither ends a program nor keeps it from ending',
  async () => {
    const full = openSync('/dev/full', 'w');
    const program = `
    import { createLog } from './server/src/ops/log.ts';
    const log = createLog();
    for (let line = 0; line < 3; line += 1) log.error({ line }, 'nobody reads this');
    setTimeout(() => {
      log.error({}, 'nor this');
      process.exit(3);
    }, 1);
  `;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
      cwd: root,
      stdio: ['ignore', 'ignore', full],
    });
    const [code] = await once(child, 'exit');
    closeSync(full);
    expect(code).toBe(3);
  },
);
