import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Environment, Tenant } from '../../../kernel/tenant.ts';
import { flushFolder, withTemporary } from '../backup.ts';
import {
  ArchiveError,
  closingLine,
  FORMAT_MEMBERS,
  MANIFEST,
  type Manifest,
  openingLine,
  PARTS,
  type Part,
  type PartSummary,
  PUBLIC_KEY,
  partFile,
  SIGNATURE,
  textOf,
} from './format.ts';
import { publicPem, signatureOf } from './key.ts';
import type { ArchiveSource, MonthReport } from './source.ts';
import { END, headerOf, paddingOf, readBytes, readTar } from './tar.ts';

export interface ArchiveRequest {
  readonly month: string;
  readonly accountId?: string | undefined;
  readonly environment?: Environment | undefined;
  /** The folder that the files are written into. */
  readonly folder: string;
  readonly key: KeyObject;
}

/** A file that was written, or that was there with the same content. */
export interface WrittenArchive extends Tenant {
  readonly file: string;
  readonly isNew: boolean;
  readonly bytes: number;
  /** The rows of each part. */
  readonly rows: Record<Part, number>;
  /** The instant at which the log begins, if older events of the month may have gone by their age; null otherwise. */
  readonly eventsFrom: string | null;
}

export type OnPage = (part: Part, rows: number) => void;

/**
 * Writes one file for each account and environment. A file has its name only once it is complete and on the disk; one that is
 * there with the same content stays, so an interrupted call is repeated. @throws ArchiveError
 */
export async function writeArchives(
  source: ArchiveSource,
  { folder, key, ...selected }: ArchiveRequest,
  onPage: OnPage,
): Promise<WrittenArchive[]> {
  if (!existsSync(folder)) throw new ArchiveError(`There is no folder ${folder}`);
  const { tenants } = await source.openArchive(selected);
  const written: WrittenArchive[] = [];
  for (const tenant of tenants) {
    const name = `psa-archive-${tenant.accountId}-${tenant.environment}-${selected.month}.tar`;
    const file = join(folder, name);
    const unfinished = `${file}.unfinished-${process.pid}`;
    written.push(
      await withTemporary(unfinished, async () => {
        mkdirSync(unfinished, { mode: 0o700 });
        return writeArchive(source, { tenant, month: selected.month, file, unfinished, key, onPage });
      }).catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException;
        throw code && DISK_CODES.test(code)
          ? new ArchiveError(`${file} cannot be written (${code})`, { cause: error })
          : error;
      }),
    );
  }
  return written;
}

/** Codes of a folder or a disk that cannot be used. */
const DISK_CODES = /^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT|EFBIG|EIO|ENOTDIR|ENAMETOOLONG)$/;

interface Writing {
  tenant: Tenant;
  month: string;
  file: string;
  unfinished: string;
  key: KeyObject;
  onPage: OnPage;
}

async function writeArchive(
  source: ArchiveSource,
  { tenant, month, file, unfinished, key, onPage }: Writing,
): Promise<WrittenArchive> {
  const { previousMonth, eventsFrom, ...summary } = await source.reportArchive({ ...tenant, month });
  const parts = [];
  for (const part of PARTS) {
    const texts = textsOf(source, { tenant, month, part, summary, onPage });
    parts.push({ name: part, ...(await writePart(join(unfinished, partFile(part)), texts)) });
  }
  const { accountId, environment } = tenant;
  const { startsAt, endsAt, books, report } = summary;
  const manifest: Manifest = {
    psaArchive: FORMAT_MEMBERS.psaArchive,
    ...{ accountId, environment, month, timeZone: FORMAT_MEMBERS.timeZone, startsAt, endsAt, books },
    previous:
      previousMonth === null
        ? null
        : {
            month: previousMonth,
            statementSha256: await hashStatement(source, tenant, previousMonth),
          },
    ...{ report, parts },
  };
  const content = Buffer.from(textOf(manifest));
  const signature = signatureOf(content, key);
  const rows = Object.fromEntries(parts.map(({ name, rows: count }) => [name, count])) as Record<
    Part,
    number
  >;
  if (existsSync(file)) {
    await assertSame(file, content, signature);
    return { ...tenant, file, isNew: false, bytes: statSync(file).size, rows, eventsFrom };
  }
  await writeFile(join(unfinished, MANIFEST), content, { mode: 0o600 });
  await writeFile(join(unfinished, SIGNATURE), signature, { mode: 0o600 });
  await writeFile(join(unfinished, PUBLIC_KEY), publicPem(key), { mode: 0o600 });
  const whole = join(unfinished, basename(file));
  await pipeline(
    Readable.from(tarOf(unfinished)),
    createWriteStream(whole, { flags: 'wx', mode: 0o600, flush: true }),
  );
  if (existsSync(file)) throw isThere(file);
  renameSync(whole, file);
  await flushFolder(dirname(file));
  return { ...tenant, file, isNew: true, bytes: statSync(file).size, rows, eventsFrom };
}

/** The names of the files in a tar, in their order. */
export const FILES = [MANIFEST, SIGNATURE, PUBLIC_KEY, ...PARTS.map(partFile)];

async function* tarOf(folder: string): AsyncGenerator<Buffer> {
  for (const name of FILES) {
    const path = join(folder, name);
    const { size } = statSync(path);
    yield headerOf(name, size);
    for await (const chunk of createReadStream(path)) yield chunk as Buffer;
    yield paddingOf(size);
  }
  yield END;
}

/** Compares by the manifest, which names the content, and its signature: the bytes of gzip may be another version's. */
async function assertSame(file: string, content: Buffer, signature: Buffer): Promise<void> {
  const handle = await open(file, 'r');
  try {
    const [manifest, signed] = await readTar(handle, FILES);
    for (const [entry, expected] of [
      [manifest!, content],
      [signed!, signature],
    ] as const) {
      const same =
        entry.size === expected.length && (await readBytes(handle, entry.start, entry.size)).equals(expected);
      if (!same) throw isThere(file);
    }
  } catch (error) {
    throw error instanceof ArchiveError ? isThere(file) : error;
  } finally {
    await handle.close();
  }
}

function isThere(file: string): ArchiveError {
  return new ArchiveError(
    `${file} is there already, with another content or another key's signature: move it away, and write the month again`,
  );
}

// ── The parts ───────────────────────────────────────────────────────────────────────────────────

interface PartRequest {
  tenant: Tenant;
  month: string;
  part: Part;
  summary: Pick<MonthReport, 'report'>;
  onPage?: OnPage;
}

/** The text of a part, page by page. */
async function* textsOf(
  source: ArchiveSource,
  { tenant, month, part, summary, onPage = () => undefined }: PartRequest,
): AsyncGenerator<string> {
  const isStatement = part === 'statement';
  if (isStatement) yield `${openingLine(summary.report.opening)}\n`;
  let rows = 0;
  for (let after: string | undefined; ; ) {
    const { lines, next } = await source.readArchive({ ...tenant, month, part, after });
    rows += lines.length;
    onPage(part, rows);
    yield lines.map((line) => `${line}\n`).join('');
    if (next === null) break;
    after = next;
  }
  if (isStatement) yield `${closingLine(summary.report.closing)}\n`;
}

/** Counts the text that goes through it. */
function countText() {
  const hash = createHash('sha256');
  let [rows, bytes] = [0, 0];
  return {
    add(text: string): string {
      hash.update(text);
      bytes += Buffer.byteLength(text);
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) rows += 1;
      return text;
    },
    summary: (): PartSummary => ({ rows, bytes, sha256: hash.digest('hex') }),
  };
}

async function writePart(path: string, texts: AsyncIterable<string>): Promise<PartSummary> {
  const count = countText();
  await pipeline(
    texts,
    async function* counted(all: AsyncIterable<string>) {
      for await (const text of all) yield count.add(text);
    },
    createGzip(),
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  );
  return count.summary();
}

/** The hash of a month's statement, which never changes, as the file of that month names it. */
async function hashStatement(source: ArchiveSource, tenant: Tenant, month: string): Promise<string> {
  const summary = await source.reportArchive({ ...tenant, month });
  const count = countText();
  for await (const text of textsOf(source, { tenant, month, part: 'statement', summary })) count.add(text);
  return count.summary().sha256;
}
