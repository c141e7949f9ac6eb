import { describe, expect, test } from 'vitest';
import { createSealing, newSealingKey, readSealingKeys } from '../../server/src/kernel/sealing.ts';

const [older, newer] = [newSealingKey(), newSealingKey()];
const bytes = Buffer.from('Comprovante de entrega');

describe('sealed bytes', () => {
  test('Sealed bytes open with their key at their place, and are others each time', () => {
    const sealing = createSealing([newer]);
    const [one, other] = [sealing.seal!(bytes, 'a place'), sealing.seal!(bytes, 'a place')];
    expect(sealing.open(one, 'a place')).toEqual(bytes);
    expect(one.sealed.length).toBe(bytes.length + 28);
    expect(one.sealed.includes(bytes.subarray(0, 4))).toBe(false);
    expect(one.sealed).not.toEqual(other.sealed);
    expect(sealing.open(sealing.seal!(Buffer.alloc(0), ''), '')).toEqual(Buffer.alloc(0));
  });

  test('Bytes that were changed, cut off or moved to another place do not open', () => {
    const sealing = createSealing([newer]);
    const { keyId, sealed } = sealing.seal!(bytes, 'a place');
    for (const at of [0, 12, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => sealing.open({ keyId, sealed: changed }, 'a place')).toThrow();
    }
    for (const cut of [sealed.subarray(0, -1), sealed.subarray(0, 20), Buffer.alloc(0)])
      expect(() => sealing.open({ keyId, sealed: cut }, 'a place')).toThrow();
    expect(() => sealing.open({ keyId, sealed }, 'another place')).toThrow();
  });

  test('A newer key encrypts while the older ones decrypt, and a key that is missing is named by its id', () => {
    const before = createSealing([older]);
    const sealed = before.seal!(bytes, 'a place');
    const rotated = createSealing([newer, older]);
    expect(rotated.open(sealed, 'a place')).toEqual(bytes);
    expect(rotated.seal!(bytes, 'a place').keyId).not.toBe(sealed.keyId);
    const without = createSealing([newer]);
    expect([rotated.has(sealed.keyId), without.has(sealed.keyId)]).toEqual([true, false]);
    expect(() => without.open(sealed, 'a place')).toThrow(sealed.keyId);
    expect(createSealing([]).seal).toBeNull();
  });

  test('Keys are read from base64 of 32 bytes, and nothing else', () => {
    const text = [newer, older].map((key) => key.toString('base64')).join(', ');
    expect(readSealingKeys(text)).toEqual([newer, older]);
    for (const wrong of [
      '',
      'a',
      newer.toString('hex'),
      `${newer.toString('base64')},`,
      newer.toString('base64').slice(1),
      'A'.repeat(44),
    ])
      expect(readSealingKeys(wrong)).toBeNull();
  });
});
