import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { describeOnBothEngines } from '../support/database.ts';
import { prepareForAudit } from './laws.ts';
import { playSeeds, textOfFailure } from './seeds.ts';

describeOnBothEngines('try', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await prepareForAudit(database);
  });
  test('x', { timeout: 300_000 }, async () => {
    const n = Number(process.env.N ?? 8);
    const t = performance.now();
    const c = process.cpuUsage();
    const { counts, failures } = await playSeeds({
      database,
      seeds: Array.from({ length: n }, (_, i) => i + 1),
    });
    const cpu = process.cpuUsage(c);
    console.log('ms', performance.now() - t, 'cpu ms', (cpu.user + cpu.system) / 1000);
    console.log(
      [...counts]
        .sort()
        .map(([k, v]) => `${k} ${v}`)
        .join('\n'),
    );
    expect(failures.map(textOfFailure).slice(0, 10)).toEqual([]);
  });
});
