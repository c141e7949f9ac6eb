import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLtcAddress } from '../../../server/src/kernel/payout-methods/ltc.ts';
import { parseUsdtAddress } from '../../../server/src/kernel/payout-methods/usd.ts';
import { fingerprintOf } from '../../../server/src/money-out/payouts/destinations.ts';
import { parseDestination } from '../../../server/src/money-out/payouts/model.ts';
import { MAGIC_DESTINATIONS } from '../../../server/src/rails/simulated/bank.ts';
import { anyText } from '../../support/any-text.ts';
import { generated } from '../../support/scale.ts';

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
    ['on TRON', 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK', 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK'],
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
    ['with a letter changed', 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxJ'],
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

const onTron = (hex: string) => base58check.encode(Buffer.from(`41${hex}`, 'hex'));
const CONTRACT = 'is the contract of USDT itself';
const NOBODY = 'whose key nobody has';
const EVM_CONTRACT = 'dac17f958d2ee523a2206206994597c13d831ec7';

describe('an address to which money would be lost', () => {
  test.each([
    ['the contract of USDT on TRON', 'usd', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', CONTRACT],
    ['the contract of USDT on Ethereum', 'usd', '0xdAC17F958D2ee523a2206206994597C13D831ec7', CONTRACT],
    ['that contract in small letters', 'usd', `0x${EVM_CONTRACT}`, CONTRACT],
    ['the bytes of that contract on TRON', 'usd', onTron(EVM_CONTRACT), CONTRACT],
    ['the contract of USDT on BNB Chain', 'usd', '0x55d398326f99059fF775485246999027B3197955', CONTRACT],
    ['the contract on Polygon', 'usd', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', CONTRACT],
    ['the contract on Arbitrum', 'usd', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', CONTRACT],
    ['the contract on Optimism', 'usd', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', CONTRACT],
    ['the contract on Avalanche', 'usd', '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', CONTRACT],
    ['the zero address', 'usd', `0x${'0'.repeat(40)}`, NOBODY],
    ['a precompiled contract', 'usd', `0x${'0'.repeat(39)}1`, NOBODY],
    ['the last of those below 0x100', 'usd', `0x${'0'.repeat(38)}ff`, NOBODY],
    ['the precompiled contract of P-256', 'usd', `0x${'0'.repeat(37)}100`, NOBODY],
    ['0x…dEaD', 'usd', '0x000000000000000000000000000000000000dEaD', NOBODY],
    ['0x…dead in small letters', 'usd', '0x000000000000000000000000000000000000dead', NOBODY],
    ['0xdEAD…', 'usd', `0xdead${'0'.repeat(36)}`, NOBODY],
    ['dead, repeated', 'usd', `0x${'dead'.repeat(10)}`, NOBODY],
    ['deadbeef, repeated', 'usd', `0x${'deadbeef'.repeat(5)}`, NOBODY],
    ['0xdead…069420', 'usd', '0xdead000000000000000042069420694206942069', NOBODY],
    ['one digit', 'usd', `0x${'1'.repeat(40)}`, NOBODY],
    ['the stand-in for ether', 'usd', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', NOBODY],
    ['the caller of the system', 'usd', `0x${'f'.repeat(39)}e`, NOBODY],
    ['the zero address of TRON', 'usd', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', NOBODY],
    ['the black hole of TRON’s first block', 'usd', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', NOBODY],
    ['a precompiled contract of TRON', 'usd', onTron(`${'0'.repeat(39)}1`), NOBODY],
    ['…dead on TRON', 'usd', onTron(`${'0'.repeat(36)}dead`), NOBODY],
    [
      'the zero hash of Litecoin',
      'ltc',
      base58check.encode(Uint8Array.of(0x30, ...new Uint8Array(20))),
      NOBODY,
    ],
    [
      'a zero hash in segwit',
      'ltc',
      bech32.encode('ltc', [0, ...bech32.toWords(new Uint8Array(20))]),
      NOBODY,
    ],
    ['3…, which is Bitcoin’s too', 'ltc', '3J3jeZjwS8sBkw3GYp42usUARpgp72hkGy', 'as M…'],
    ['MWEB', 'ltc', `ltcmweb1${'q'.repeat(120)}`, 'an MWEB address'],
    ['MWEB in capitals', 'ltc', `LTCMWEB1${'Q'.repeat(120)}`, 'an MWEB address'],
  ] as const)('no payout is made to %s, and the reason is named', (_, method, text, why) => {
    expect(parseDestination(method, text)).toEqual({
      destination: null,
      wrong: 'destination',
      why: expect.stringContaining(why),
    });
  });

  test.each([
    ['usd', 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK'],
    ['usd', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    // The address of a contract wallet, chosen for its many zeros.
    ['usd', '0x0000000000000068F116a894984e2DB1123eB395'],
    ['ltc', 'MQFsxT9uPFicZSKAeh3NjWiZkXHG5AghvX'],
    ['ltc', 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'],
  ] as const)('a payout by %s to %s is made', (method, text) => {
    expect(parseDestination(method, text)).toEqual({ destination: text, why: null });
  });

  test('no address with a key is taken for one without', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        // fast-check prefers zeros, so a hash makes the bytes random.
        const text = onTron(createHash('sha256').update(bytes).digest('hex').slice(0, 40));
        expect(parseDestination('usd', text).destination).toBe(text);
      }),
      { numRuns: generated(1_000) },
    );
  });

  test('what another service has paid to such an address is still recognised', () => {
    const burned = '0x000000000000000000000000000000000000dEaD';
    expect(parseUsdtAddress(burned)).toBe(burned);
    expect(fingerprintOf('usd', 5_000, burned)).not.toBeNull();
    expect(fingerprintOf('ltc', 5_000, '3J3jeZjwS8sBkw3GYp42usUARpgp72hkGy')).not.toBeNull();
  });
});

test('an address with any letter changed is refused', () => {
  const addresses = [
    ['LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9', parseLtcAddress],
    ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', parseLtcAddress],
    ['TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK', parseUsdtAddress],
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
