import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLtcAddress } from '../../server/src/payouts/methods/ltc.ts';
import { parseUsdtAddress } from '../../server/src/payouts/methods/usd.ts';
import { MAGIC_DESTINATIONS } from '../../server/src/rails/simulated/bank.ts';
import { anyText } from '../support/any-text.ts';
import { generated } from '../support/scale.ts';

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());
const withVersion = (version: number, length = 20) =>
  base58check.encode(Uint8Array.of(version, ...new Uint8Array(length).fill(7)));
const segwit = (coder: typeof bech32, version: number, length: number, prefix = 'ltc') =>
  coder.encode(prefix, [version, ...coder.toWords(new Uint8Array(length).fill(7))]);

describe('an LTC address', () => {
  test.each([
    ['of a key (L)', 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'],
    ['of a key, made', withVersion(0x30)],
    ['of a script (M)', withVersion(0x32)],
    ['of a script, as it was written before (3)', withVersion(0x05)],
    ['of a key, segwit', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
    ['of a script, segwit', segwit(bech32, 0, 32)],
    ['taproot', segwit(bech32m, 1, 32)],
  ])('an LTC address %s is taken as it is', (_, address) => {
    expect(parseLtcAddress(address)).toBe(address);
  });

  test('a segwit address may be written in capitals', () => {
    expect(parseLtcAddress('LTC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KGMN4N9')).toBe(
      'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
    );
  });

  test.each([
    ['nothing', ''],
    ['Bitcoin’s', withVersion(0x00)],
    ['the test network’s', withVersion(0x6f)],
    ['the test network’s, segwit', segwit(bech32, 0, 20, 'tltc')],
    ['Bitcoin’s, segwit', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['with a letter changed', 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH8'],
    ['with a letter changed, segwit', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8'],
    ['in both cases, segwit', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4N9'],
    ['too short a hash', withVersion(0x30, 19)],
    ['too long a hash', withVersion(0x30, 21)],
    ['version 0 of a wrong length', segwit(bech32, 0, 21)],
    ['version 0 with the checksum of version 1', segwit(bech32m, 0, 20)],
    ['version 1 with the checksum of version 0', segwit(bech32, 1, 32)],
    ['version 1 of a wrong length', segwit(bech32m, 1, 20)],
    ['version 2', segwit(bech32m, 2, 32)],
    ['with a space', ' LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'],
    ['with an end of line', 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9\n'],
    ['endless', 'L'.repeat(100_000)],
    ['endless, segwit', `ltc1${'q'.repeat(100_000)}`],
    ['half of a surrogate pair', 'ltc1\ud83e'],
  ])('a text that is no LTC address is refused: %s', (_, text) => {
    expect(parseLtcAddress(text)).toBeNull();
  });
});

describe('a USDT address', () => {
  const ERC20 = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

  test.each([
    ['on TRON', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['of ERC-20', ERC20, ERC20],
    ['of ERC-20', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
    ['of ERC-20 in small letters', ERC20.toLowerCase(), ERC20],
    ['of ERC-20 in capitals', `0x${ERC20.slice(2).toUpperCase()}`, ERC20],
  ])('a USDT address %s is taken in its normal form', (_, text, normal) => {
    expect(parseUsdtAddress(text)).toBe(normal);
  });

  test.each([
    ['nothing', ''],
    ['0x', '0x'],
    ['with a letter changed', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
    ['of another chain', withVersion(0x00)],
    ['LTC', 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'],
    ['of ERC-20 with one letter in the other case', ERC20.replace('aA', 'aa')],
    ['of ERC-20, too short', ERC20.slice(0, -1)],
    ['of ERC-20, too long', `${ERC20}0`],
    ['of ERC-20 with a capital X', ERC20.replace('0x', '0X')],
    ['no hex', `0x${'g'.repeat(40)}`],
  ])('a text that is no USDT address is refused: %s', (_, text) => {
    expect(parseUsdtAddress(text)).toBeNull();
  });
});

test('an address with any letter changed is refused', () => {
  const addresses = [
    ['LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9', parseLtcAddress],
    ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', parseLtcAddress],
    ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', parseUsdtAddress],
  ] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...addresses),
      fc.nat(),
      fc.constantFrom(...'023456789acdefghjklmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ'),
      ([address, parse], at, letter) => {
        const place = at % address.length;
        fc.pre(letter !== address[place]);
        expect(parse(address.slice(0, place) + letter + address.slice(place + 1))).toBeNull();
      },
    ),
    { numRuns: generated(1_000) },
  );
});

test('no text makes an address parser throw', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom('', 'ltc1', '0x', 'T', 'L'), (text, prefix) => {
      parseLtcAddress(prefix + text);
      parseUsdtAddress(prefix + text);
    }),
  );
});

test('the simulated bank’s special addresses are valid addresses', () => {
  const crypto = Object.keys(MAGIC_DESTINATIONS).filter((destination) => !destination.includes('@'));
  expect(crypto.map((address) => parseLtcAddress(address) ?? parseUsdtAddress(address))).toEqual(crypto);
  expect(crypto).toHaveLength(4);
});
