import { createHash, sign } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql as raw } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStatementService } from '../../../server/src/money-out/wallet/statement-service.ts';
import { publicPem, readPublicKey, readSigningKey } from '../../../server/src/programs/ops/archive/key.ts';
import {
  type ArchiveSource,
  createArchiveSource,
  readArchiveInput,
} from '../../../server/src/programs/ops/archive/source.ts';
import { END, headerOf, paddingOf, readTar } from '../../../server/src/programs/ops/archive/tar.ts';
import { verifyArchives } from '../../../server/src/programs/ops/archive/verify.ts';
import { FILES, writeArchives } from '../../../server/src/programs/ops/archive/write.ts';
import { openStreams, readHead } from '../../../server/src/state/events/log.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { liveAMonth, type Merchant, openMerchant } from '../../support/month.ts';

const folder = mkdtempSync(join(tmpdir(), 'psa-archive-'));
const keyFile = join(folder, 'key.pem');
const key = readSigningKey(keyFile);
const onPage = () => undefined;

let app: TestApp;
let source: ArchiveSource;
let merchant: Merchant;
let files: string[];
beforeAll(async () => {
  app = await startApp();
  source = createArchiveSource(app);
  merchant = await openMerchant(app);
  await liveAMonth(app, merchant);
  app.clock.moveTo(new Date('2026-04-10T12:00:00Z'));
  await app.work.settled();
  await app.controls.credit(merchant.tenant, 4_200);
  app.clock.moveTo(new Date('2026-05-01T12:00:00Z'));
  await app.work.settled();
  files = [];
  for (const month of ['2026-03', '2026-04'])
    files.push(...(await write(month, folder)).map(({ file }) => file));
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  rmSync(folder, { recursive: true });
});

const write = (month: string, into: string, from = source) =>
  writeArchives(from, { ...merchant.tenant, month, folder: into, key }, onPage);
const verify = (...given: string[]) => verifyArchives(given, { publicKey: publicPem(key) });
const emptyFolder = () => mkdtempSync(join(folder, 'other-'));

describe('the archive of a month', () => {
  test('Months are proved without a database, each continues the one before, and they hold what the lists show', async () => {
    const [march, april] = await verify(...files);
    expect([march, april]).toMatchObject([
      { month: '2026-03', startsAt: '2026-03-01T03:00:00.000Z', previous: null, continues: null },
      {
        month: '2026-04',
        endsAt: '2026-05-01T03:00:00.000Z',
        previous: { month: '2026-03' },
        continues: true,
      },
    ]);
    const period = { startsAt: new Date(march!.startsAt), endsAt: new Date(march!.endsAt) };
    const closing = await createStatementService(app).closing(merchant.tenant, period);
    expect(march!.report.closing).toMatchObject({
      balanceCents: closing.closing.balanceCents,
      cryptoBalanceLitoshi: closing.closing.cryptoBalanceLitoshi,
    });
    expect(march!.report.lines).toHaveLength(closing.lines.length);
    const events = await app.database.sql
      .selectFrom('event')
      .select('version')
      .where('account_id', '=', merchant.tenant.accountId)
      .where('occurred_at', '<', period.endsAt)
      .execute();
    const entries = closing.lines.reduce((sum, { count }) => sum + count, 0);
    expect(march!.parts.map(({ name, rows }) => [name, rows])).toEqual([
      ['statement', entries + 2],
      ['events', events.length],
      ['deliveries', 0],
    ]);
    expect(statSync(files[0]!).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  test('The same month is the same bytes again, and a file that is there stays', async () => {
    const again = emptyFolder();
    await write('2026-03', again);
    expect(readFileSync(join(again, basename(files[0]!)))).toEqual(readFileSync(files[0]!));
    expect(await write('2026-03', folder)).toMatchObject([{ file: files[0], isNew: false }]);
    writeFileSync(join(again, basename(files[0]!)), 'something else');
    await expect(write('2026-03', again)).rejects.toThrow('is there already, with another content');
  });

  test('A month that is not over is refused, and so is a page that no file asks for', async () => {
    await expect(write('2026-05', folder)).rejects.toThrow(
      'month: is not over: it can be archived from 2026-06-01T04:00',
    );
    expect(
      readArchiveInput.safeParse({ ...merchant.tenant, month: '2026-03', part: 'events', after: "1'" })
        .success,
    ).toBe(false);
  });

  test('A page goes on where the row before it has gone, and a month whose events have gone is said to be thin', async () => {
    const { sql } = app.database;
    const of = { ...merchant.tenant, environment: 'sandbox' as const };
    await openStreams(sql, [of]);
    await raw`
      insert into webhook_delivery (webhook_id, account_id, environment, event_version, event, resource, resource_id, url, body,
        status, created_at)
      select 'page_' || n, ${of.accountId}, 'sandbox', n, 'e', 'payment', 'p', 'https://x.example', '{}', 'delivered',
        timestamptz '2026-03-10' from generate_series(1, 60) n`.execute(sql);
    const page = { ...of, month: '2026-03', part: 'deliveries' as const };
    const { next } = await source.readArchive(page);
    await raw`delete from webhook_delivery where webhook_id = ${'page_50'}`.execute(sql);
    const rest = await source.readArchive(readArchiveInput.parse({ ...page, after: next }));
    expect([rest.lines.length, rest.next]).toEqual([10, null]);
    await raw`delete from webhook_delivery where environment = 'sandbox'`.execute(sql);

    const keepFrom = (version: number) =>
      raw`update stream set kept_from = ${version} where environment = 'live'`.execute(sql);
    const thinned = () => write('2026-03', folder).then(([archive]) => archive!.eventsFrom);
    expect(await thinned()).toBeNull();
    await keepFrom(await readHead(sql, merchant.tenant));
    expect(await thinned()).toMatch(/^2026-/);
    await keepFrom(0);
  });

  test('A writer that fails leaves no file, and the next one writes it', async () => {
    const into = emptyFolder();
    const failing: ArchiveSource = {
      ...source,
      async readArchive(input) {
        if (input.part === 'events') throw new Error('the connection is lost');
        return source.readArchive(input);
      },
    };
    await expect(write('2026-03', into, failing)).rejects.toThrow('the connection is lost');
    expect(readdirSync(into)).toEqual([]);
    expect(await write('2026-03', into)).toMatchObject([{ isNew: true }]);
  });
});

describe('an archive that was changed', () => {
  /** Writes a tar with another manifest and statement, signed by someone who has the key. */
  async function changed(
    change: (manifest: { report: { closing: Record<string, number> } }, statement: string) => string,
    signs: 'signed again' | 'not signed',
  ): Promise<string> {
    const contents = await contentsOf(files[0]!);
    const manifest = JSON.parse(contents['manifest.json']!.toString());
    const statement = change(manifest, gunzipSync(contents['statement.ndjson.gz']!).toString());
    contents['statement.ndjson.gz'] = gzipSync(statement);
    if (signs === 'signed again') {
      const [part] = manifest.parts;
      part.bytes = Buffer.byteLength(statement);
      part.rows = statement.split('\n').length - 1;
      part.sha256 = createHash('sha256').update(statement).digest('hex');
      contents['manifest.json'] = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
      contents['manifest.sig'] = sign(null, contents['manifest.json'], key);
    }
    const tar = Object.entries(contents).flatMap(([name, bytes]) => [
      headerOf(name, bytes.length),
      bytes,
      paddingOf(bytes.length),
    ]);
    const file = join(emptyFolder(), 'changed.tar');
    writeFileSync(file, Buffer.concat([...tar, END]));
    return file;
  }

  test.each<[string, (statement: string) => string, string]>([
    [
      'a changed amount',
      (text) => text.replace(/"amountCents":100000,/, '"amountCents":100001,'),
      'does not continue the one before',
    ],
    [
      'a missing entry',
      (text) => text.replace(/\n.*"kind":"credit".*/, ''),
      'does not continue the one before',
    ],
    ['a doubled entry', (text) => text.replace(/\n(.*"kind":"credit".*)/, '\n$1\n$1'), 'is not in its order'],
    [
      'another kind',
      (text) => text.replace('"kind":"credit"', '"kind":"payment"'),
      'is not that of its report',
    ],
    ['no end', (text) => text.replace(/\n\{"closing".*\n/, '\n'), 'does not end with its closing figures'],
    [
      'another opening',
      (text) => text.replace('{"balanceCents":0', '{"balanceCents":1'),
      'does not begin with its opening figures',
    ],
  ])('Even if it was signed again, %s is found by the sums', async (_, change, message) => {
    const file = await changed((__, statement) => {
      const other = change(statement);
      expect(other).not.toBe(statement);
      return other;
    }, 'signed again');
    await expect(verify(file)).rejects.toThrow(message);
  });

  test('A report whose lines are not its closing is found', async () => {
    const file = await changed((manifest, statement) => {
      manifest.report.closing.cryptoBalanceLitoshi! += 1;
      return statement;
    }, 'signed again');
    await expect(verify(file)).rejects.toThrow(
      'opening and lines of its report are not closing: cryptoBalanceLitoshi',
    );
  });

  test('A part that was replaced is found by its hash, and a byte anywhere by something', async () => {
    const file = await changed(
      (_, statement) => statement.replace('"reference":', '"reference" :'),
      'not signed',
    );
    await expect(verify(file)).rejects.toThrow(/its part/);
    const bytes = readFileSync(files[0]!);
    const damaged = join(emptyFolder(), 'damaged.tar');
    for (let at = 0; at < bytes.length; at += 331) {
      const other = Buffer.from(bytes);
      other[at]! ^= 1;
      writeFileSync(damaged, other);
      const found = await verify(damaged).then(
        () => 'proved',
        (error: Error) => error.name,
      );
      // The header of gzip has a byte for the system and one for the speed, which are not of the content.
      if (found === 'proved') expect(isOfGzipHeader(bytes, at), `byte ${at}`).toBe(true);
      else expect(found, `byte ${at}`).toBe('ArchiveError');
    }
    writeFileSync(damaged, bytes.subarray(0, bytes.length - 1));
    await expect(verify(damaged)).rejects.toThrow('is not proved');
  });

  test('A file signed by another key, or of another month before, is not proved', async () => {
    const other = readSigningKey(join(folder, 'other.pem'));
    await expect(verifyArchives(files, { publicKey: publicPem(other) })).rejects.toThrow(
      'another key has signed it',
    );
    expect(() => readPublicKey(files[0]!)).toThrow('is no public key of Ed25519');
    const [alone] = await verify(files[1]!);
    expect(alone).toMatchObject({ continues: false });
    const replaced = await changed((manifest, statement) => {
      Object.assign(manifest, { month: '2026-03' });
      return statement.replace(/"reference":"[^"]*"/, '"reference":"another"');
    }, 'signed again');
    await expect(verify(replaced, files[1]!)).rejects.toThrow('it continues another 2026-03');
  });
});

/** The bytes of each file in a tar. */
async function contentsOf(file: string): Promise<Record<string, Buffer>> {
  const handle = await open(file);
  const bytes = readFileSync(file);
  const entries = await readTar(handle, FILES).finally(() => handle.close());
  return Object.fromEntries(
    entries.map(({ name, start, size }) => [name, bytes.subarray(start, start + size)]),
  );
}

function isOfGzipHeader(bytes: Buffer, at: number): boolean {
  const magic = Buffer.from([0x1f, 0x8b, 0x08]);
  for (let start = bytes.indexOf(magic); start >= 0; start = bytes.indexOf(magic, start + 1))
    if (at > start + 2 && at < start + 10) return true;
  return false;
}
