import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a program with a log. */
function run(code: string, stderr: 'pipe' | number) {
  const program = `import { createLog } from './server/src/programs/ops/log.ts';\nconst log = createLog();\n${code}`;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: root,
    stdio: ['pipe', 'pipe', stderr],
  });
}

test('Every line reaches its reader, also the last one before the end, of more than a pipe holds', async () => {
  const lines = 300;
  const child = run(
    `for (let line = 1; line <= ${lines}; line += 1) log.error({ line, text: 'x'.repeat(2_000) }, 'long');
     process.exit(3);`,
    'pipe',
  );
  let seen = '';
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    seen += text;
  });
  const [code] = await once(child, 'close');
  const read = seen
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).line);
  expect([code, read.length, read.at(-1)]).toEqual([3, lines, lines]);
});

// Linux has a device that is always full.
test.runIf(existsSync('/dev/full'))(
  'A log on a full disk neither ends a program nor keeps it from ending',
  async () => {
    const full = openSync('/dev/full', 'w');
    const child = run(
      `for (let line = 0; line < 3; line += 1) log.error({ line }, 'nobody reads this');
     setTimeout(() => {
       log.error({}, 'nor this');
       process.exit(3);
     }, 1);`,
      full,
    );
    const [code] = await once(child, 'exit');
    closeSync(full);
    expect(code).toBe(3);
  },
);
