import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import jsqr from 'jsqr';
import { describe, expect, test } from 'vitest';
import { brCode } from '../../server/src/kernel/br-code.ts';
import { type QrCode, qrCode } from '../../server/src/kernel/qr-code.ts';
import { generated } from '../support/scale.ts';

const QUIET = 4;
const PIXELS = 4;

/** A code of 172 characters, like a payment's. */
const BR_CODE = brCode({
  url: 'pix.example.com/v2/9d36b84fc70b478fb95c127',
  amountCents: 12_990,
  merchantName: 'Padaria São João do Norte',
  merchantCity: 'São Paulo',
});

/**
 * Fills a path as a browser does. Returns the modules: squares that the path winds around in one direction more often
 * than in the other.
 */
function fillPath({ path, size }: QrCode): boolean[][] {
  const windings = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  let [x, y, startX, startY] = [0, 0, 0, 0];
  const moveTo = (toX: number, toY: number) => {
    // An edge from top to bottom fills the modules to its right.
    for (let row = Math.min(y, toY); row < Math.max(y, toY); row += 1)
      for (let column = x; column < size; column += 1) windings[row]![column]! += toY > y ? 1 : -1;
    [x, y] = [toX, toY];
  };
  for (const [, command, first = 0, second = 0] of path.matchAll(/([Mmhvz])(-?\d+)?(?: (-?\d+))?/g)) {
    if (command === 'h') moveTo(x + Number(first), y);
    else if (command === 'v') moveTo(x, y + Number(first));
    else if (command === 'z') moveTo(startX, startY);
    else {
      const from = command === 'm' ? { x, y } : { x: 0, y: 0 };
      [x, y] = [from.x + Number(first), from.y + Number(second)];
      [startX, startY] = [x, y];
    }
  }
  return windings.map((row) => row.map((winding) => winding !== 0));
}

/** Reads a code with jsQR from an image of the whole viewBox. */
function readCode(code: QrCode): string | undefined {
  const modules = fillPath(code);
  const side = (code.size + 2 * QUIET) * PIXELS;
  const image = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const isDark = modules[Math.floor(y / PIXELS) - QUIET]?.[Math.floor(x / PIXELS) - QUIET];
      if (isDark) image.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
    }
  // The types of the package expect `default` on its default export, and it is there.
  const found = jsqr.default(image, side, side, { inversionAttempts: 'dontInvert' });
  return found ? Buffer.from(found.binaryData).toString() : undefined;
}

describe('a QR code', () => {
  test.each([
    ['1 character', 'a'],
    ['a BR Code of 172 characters', BR_CODE],
    ['400 characters', 'pix.example.com/Ab09-_'.repeat(20).slice(0, 400)],
    ['accents and an emoji', 'Pão de açúcar 🥖'],
  ])('A QR code is read back from its path, byte for byte: %s', (_, text) => {
    expect(readCode(qrCode(text)!)).toBe(text);
  });

  test('A QR code of any printable text is read back from its path', () => {
    const texts = fc.string({ minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(texts, (text) => {
        expect(readCode(qrCode(text)!)).toBe(text);
      }),
      { numRuns: generated(30) },
    );
  });

  test('A text that is asked for again is not encoded again', () => {
    expect(qrCode(BR_CODE)).toBe(qrCode(BR_CODE));
  });

  test('The path of a BR Code of 172 characters is short, and shorter yet compressed', () => {
    expect(BR_CODE).toHaveLength(172);
    const { path, size } = qrCode(BR_CODE)!;
    expect(size).toBe(49);
    expect(path.length).toBeLessThan(6_000);
    expect(gzipSync(path).length).toBeLessThan(850);
    // No character of the path needs escaping in an attribute.
    expect(path).toMatch(/^M0 0[mhvz\d -]+z$/);
  });

  // The capacities of level L in ISO/IEC 18004.
  test.each([
    ['a', 17, 21],
    ['a', 18, 25],
    ['a', 192, 49],
    ['a', 193, 53],
    ['1', 41, 21],
    ['1', 42, 25],
    ['A', 25, 21],
    ['A', 26, 25],
    ['a', 1_024, 109],
  ])('A QR code is the smallest that holds its text: %s, %d times, has a side of %d', (unit, times, size) => {
    expect(qrCode(unit.repeat(times))?.size).toBe(size);
  });

  test.each([
    ['nothing', ''],
    ['1,025 characters', 'a'.repeat(1_025)],
    ['10,000 digits', '1'.repeat(10_000)],
    ['1,024 characters in 3,072 bytes', '€'.repeat(1_024)],
    ['half of a surrogate pair', 'a\ud800'],
  ])('A text has no QR code: %s', (_, text) => {
    expect(qrCode(text)).toBeNull();
  });

  test('A text of as many bytes as the largest QR code holds has one', () => {
    const text = `${'€'.repeat(984)}a`;
    expect(Buffer.byteLength(text)).toBe(2_953);
    expect(qrCode(text)?.size).toBe(177);
    expect(qrCode(`${text}a`)).toBeNull();
  });
});
