import { createHash } from 'node:crypto';

/** The largest file of a logo. */
export const MAX_LOGO_BYTES = 100 * 1024;
/** The longest side of a logo: a small file can hold a picture that fills a browser's memory. */
const MAX_SIDE = 2048;

export interface Logo {
  bytes: Buffer;
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  /** SHA-256 in hexadecimal digits. */
  hash: string;
}

/** Reads a logo by its bytes, whatever its file name. Returns the reason if it is refused. */
export function readLogo(bytes: Buffer): Logo | string {
  if (bytes.length > MAX_LOGO_BYTES) return `must have at most 100 kB, and has ${bytes.length} bytes`;
  const found = readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
  if (!found) return 'must be a whole PNG, JPEG or WebP file (an SVG is refused: it can hold a script)';
  const { type, width, height } = found;
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
    return `must be at most ${MAX_SIDE} pixels wide and high, and is ${width} × ${height}`;
  return { bytes, type, hash: createHash('sha256').update(bytes).digest('hex') };
}

type Picture = { type: Logo['type']; width: number; height: number } | null;

const text = (bytes: Buffer, from: number, length: number) => bytes.toString('latin1', from, from + length);

/** Reads a PNG; null if the bytes are no whole one. */
export function readPng(bytes: Buffer): Picture {
  if (bytes.length < 57 || text(bytes, 0, 8) !== '\x89PNG\r\n\x1a\n' || text(bytes, 12, 4) !== 'IHDR')
    return null;
  if (text(bytes, bytes.length - 8, 4) !== 'IEND') return null;
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Reads a JPEG by the frame header among its segments; null if the bytes are no whole one. */
export function readJpeg(bytes: Buffer): Picture {
  if (
    bytes.length < 20 ||
    bytes.readUInt16BE(0) !== 0xffd8 ||
    bytes.readUInt16BE(bytes.length - 2) !== 0xffd9
  )
    return null;
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1]!;
    // A byte of padding before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { type: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function readWebp(bytes: Buffer): Picture {
  if (bytes.length < 30 || text(bytes, 0, 4) !== 'RIFF' || text(bytes, 8, 4) !== 'WEBP') return null;
  if (bytes.readUInt32LE(4) + 8 !== bytes.length) return null;
  const type = 'image/webp';
  switch (text(bytes, 12, 4)) {
    case 'VP8 ':
      return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const sides = bytes.readUInt32LE(21);
      return { type, width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}
