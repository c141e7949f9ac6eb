import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import {
  ArchiveError,
  assertReportHolds,
  createStatementCheck,
  type Manifest,
  type Part,
  parseManifest,
  partFile,
} from './format.ts';
import { assertSigned, fingerprintOf } from './key.ts';
import { readBytes, readTar, type TarEntry } from './tar.ts';
import { FILES } from './write.ts';

/** An archive that is what its signature says. */
export interface VerifiedArchive extends Omit<Manifest, 'psaArchive'> {
  readonly file: string;
  /** The SHA-256 of the public key, in DER. */
  readonly keyFingerprint: string;
  /** Whether the file of the month before was verified with this one; null if nothing was before. */
  readonly continues: boolean | null;
}

/**
 * Verifies files by themselves, and each against that of the month before if that is given. No database is needed.
 * `publicKey`: the key that must have signed them, in PEM; without it each is verified by the key that it names.
 * @throws ArchiveError naming the file
 */
export async function verifyArchives(
  files: readonly string[],
  { publicKey }: { publicKey: string | undefined },
): Promise<VerifiedArchive[]> {
  const verified: (Omit<VerifiedArchive, 'continues'> & { statement: string })[] = [];
  for (const file of files)
    verified.push(await ofFile(file, async () => ({ file, ...(await verify(file, publicKey)) })));
  return Promise.all(
    verified.map(({ statement: _, ...archive }) =>
      ofFile(archive.file, async () => {
        const { previous, accountId, environment } = archive;
        const before = verified.find(
          (other) =>
            other.month === previous?.month &&
            other.accountId === accountId &&
            other.environment === environment,
        );
        if (before) assertContinues(archive, before);
        return { ...archive, continues: previous && before !== undefined };
      }),
    ),
  );
}

async function ofFile<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof ArchiveError) throw new ArchiveError(`${file} is not proved: ${message}`);
    if (code?.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END')
      throw new ArchiveError(`${file} is not proved: a part of it cannot be unpacked (${code})`);
    throw code ? new ArchiveError(`${file} cannot be read (${code})`) : error;
  }
}

function assertContinues(
  archive: Pick<Manifest, 'previous' | 'report'>,
  before: Pick<Manifest, 'month' | 'report'> & { statement: string },
): void {
  if (archive.previous?.statementSha256 !== before.statement)
    throw new ArchiveError(`it continues another ${before.month} than the one that is given`);
  if (JSON.stringify(archive.report.opening) !== JSON.stringify(before.report.closing))
    throw new ArchiveError(`its opening figures are not the closing figures of ${before.month}`);
}

/** The most bytes of a manifest, which has a line for each kind of entry. */
const MANIFEST_BYTES = 1_000_000;
const KEY_BYTES = 1_000;
const SIGNATURE_BYTES = 64;

async function verify(file: string, publicKey: string | undefined) {
  const handle = await open(file, 'r');
  try {
    const [manifest, signature, key, ...parts] = await readTar(handle, FILES);
    const content = await readWhole(handle, manifest!, MANIFEST_BYTES);
    const pem = (await readWhole(handle, key!, KEY_BYTES)).toString();
    assertSigned(content, { signature: await readWhole(handle, signature!, SIGNATURE_BYTES), pem });
    if (publicKey !== undefined && publicKey !== pem) throw new ArchiveError('another key has signed it');
    const { psaArchive: _, ...members } = parseManifest(content.toString());
    assertReportHolds(members.report);
    for (const [index, entry] of parts.entries()) await verifyPart(file, entry, members, index);
    return { ...members, keyFingerprint: fingerprintOf(pem), statement: members.parts[0]!.sha256 };
  } finally {
    await handle.close();
  }
}

async function readWhole(handle: FileHandle, { name, start, size }: TarEntry, most: number): Promise<Buffer> {
  if (size > most) throw new ArchiveError(`${name} is too large`);
  return readBytes(handle, start, size);
}

async function verifyPart(
  file: string,
  entry: TarEntry,
  manifest: Omit<Manifest, 'psaArchive'>,
  index: number,
): Promise<void> {
  const { name, rows, bytes, sha256 } = manifest.parts[index]!;
  const check = checkOf(name, manifest);
  const hash = createHash('sha256');
  let [foundRows, foundBytes] = [0, 0];
  const counted = async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      foundBytes += chunk.length;
      // A small file may unpack to any size.
      if (foundBytes > bytes) throw new ArchiveError(`its part ${name} has more than its manifest says`);
      hash.update(chunk);
      yield chunk;
    }
  };
  for await (const line of linesOf(counted(unpacked(file, entry)), name)) {
    foundRows += 1;
    check.line(line);
  }
  if (foundBytes !== bytes || foundRows !== rows || hash.digest('hex') !== sha256)
    throw new ArchiveError(`its part ${partFile(name)} is not the one that its manifest names`);
  check.end();
}

function unpacked(file: string, { start, size }: TarEntry): AsyncIterable<Buffer> {
  if (size === 0) throw new ArchiveError('a part of it is missing');
  const source = createReadStream(file, { start, end: start + size - 1 });
  const chunks = source.pipe(createGunzip());
  source.on('error', (error) => chunks.destroy(error));
  return chunks;
}

/** The most bytes of a line: more than any row has. */
const LONGEST_LINE = 64_000_000;

async function* linesOf(chunks: AsyncIterable<Buffer>, name: Part): AsyncGenerator<string> {
  const rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      rest.push(chunk.subarray(start, end));
      yield Buffer.concat(rest).toString();
      rest.length = 0;
      length = 0;
      start = end + 1;
    }
    rest.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LONGEST_LINE) throw new ArchiveError(`a line of its part ${name} has no end`);
  }
  if (length > 0) throw new ArchiveError(`the last line of its part ${name} is cut off`);
}

const NEWLINE = 0x0a;

/** The sums are checked in the statement alone: what the other parts say is their hash. */
function checkOf(part: Part, manifest: Omit<Manifest, 'psaArchive'>) {
  if (part === 'statement') return createStatementCheck(manifest);
  return { line: () => undefined, end: () => undefined };
}
