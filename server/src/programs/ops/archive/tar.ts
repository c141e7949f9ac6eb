import type { FileHandle } from 'node:fs/promises';
import { ArchiveError } from './format.ts';

// The part of POSIX tar (ustar) that an archive needs: files that only their owner may read, without folders. All else is zero,
// so that the same content is the same bytes.

const BLOCK = 512;
/** The largest size of 11 octal digits. A larger one is a number of base 256, as GNU tar and bsdtar read it. */
const OCTAL_LIMIT = 8 ** 11;
const SIZE = { at: 124, length: 12 };
const SUM = { at: 148, length: 8 };

export const END = Buffer.alloc(2 * BLOCK);

/** The block before a file. */
export function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, 'ascii');
  header.write('0000600\0', 100, 'ascii');
  header.write('0000000\0', 108, 'ascii');
  header.write('0000000\0', 116, 'ascii');
  if (size < OCTAL_LIMIT) header.write(`${size.toString(8).padStart(11, '0')}\0`, SIZE.at, 'ascii');
  else {
    header[SIZE.at] = 0x80;
    header.writeBigUInt64BE(BigInt(size), SIZE.at + 4);
  }
  header.write('00000000000\0', 136, 'ascii');
  header.write('0', 156, 'ascii');
  header.write('ustar\0' + '00', 257, 'ascii');
  header.write(sumOf(header), SUM.at, 'ascii');
  return header;
}

/** The zeros behind a file. */
export function paddingOf(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The sum of a header, in which the sum itself counts as spaces. */
function sumOf(header: Buffer): string {
  const sum = header.reduce(
    (total, byte, at) => total + (at >= SUM.at && at < SUM.at + SUM.length ? 0x20 : byte),
    0,
  );
  return `${sum.toString(8).padStart(6, '0')}\0 `;
}

/** A file in a tar, and where its bytes are. */
export interface TarEntry {
  name: string;
  start: number;
  size: number;
}

/** Lists the files of a tar. @throws ArchiveError unless it has exactly these, as `headerOf` describes them */
export async function readTar(file: FileHandle, names: readonly string[]): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  let at = 0;
  for (const name of names) {
    const header = await readBytes(file, at, BLOCK);
    const size = sizeIn(header);
    if (!headerOf(name, size).equals(header)) throw new ArchiveError(`${name} is missing or damaged`);
    entries.push({ name, start: at + BLOCK, size });
    at += BLOCK + size;
    const padding = paddingOf(size);
    if (!(await readBytes(file, at, padding.length)).equals(padding))
      throw new ArchiveError(`something stands behind ${name}`);
    at += padding.length;
  }
  const end = await readBytes(file, at, END.length);
  if (!end.equals(END) || (await file.stat()).size !== at + END.length)
    throw new ArchiveError('its end is missing or damaged');
  return entries;
}

function sizeIn(header: Buffer): number {
  if (header[SIZE.at] === 0x80) return Number(header.readBigUInt64BE(SIZE.at + 4));
  const digits = header.toString('ascii', SIZE.at, SIZE.at + SIZE.length - 1);
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : 0;
}

/** Reads bytes at a place. @throws ArchiveError if the file ends before */
export async function readBytes(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, at);
  if (bytesRead < length) throw new ArchiveError('it is cut off');
  return bytes;
}
