import { bytesToHex } from '@noble/hashes/utils.js';
import { bech32, bech32m } from '@scure/base';
import { DUST_LITOSHI } from '../money.ts';
import { base58Hash, isUnspendable, NOBODY_HAS_ITS_KEY, shortenAddress, tryDecode } from './addresses.ts';
import type { MethodRecord } from './method.ts';

export const ltc: MethodRecord = {
  graphql: { name: 'LTC', description: 'A payout to a Litecoin address, from the LTC balance.' },
  label: 'LTC',
  cli: { inWords: 'in LTC', column: 'ltc' },
  destination: {
    inWords: 'LTC address',
    mustBe: 'must be an LTC address of the main network, with its checksum',
    parse: parseLtcAddress,
    refusal: refusalOf,
    variantOf: (text) => (/^(?:ltc1|[LM3])/i.test(text) ? 'ltc_address' : null),
    mask: shortenAddress,
    isPublic: true,
    inText: [],
  },
  defaultFeeCents: 500,
  debits: 'ltc',
  ceiling: null,
  dustLitoshi: DUST_LITOSHI,
  leavesUnconfirmed: false,
  hourly: null,
  rail: { simulatedMs: 5_000, comesBack: false, namesRecipient: false },
};

/** The version byte of P2SH in its older form (3…), which Bitcoin uses too. */
const BITCOIN_TOO = 0x05;
/** P2PKH (L…), P2SH (M…), and P2SH in its older form. */
const VERSIONS: readonly number[] = [0x30, 0x32, BITCOIN_TOO];

/**
 * Parses an LTC address of the main network, checksum included, into its normal form; null for any other
 * text.
 */
export function parseLtcAddress(text: string): string | null {
  if (hashOf(text) === null) return null;
  return isSegwitText(text) ? text.toLowerCase() : text;
}

/** The reason for refusing an LTC address, or a text that would be one in another form. */
function refusalOf(text: string): string | null {
  if (/^ltcmweb1/i.test(text))
    return 'is an MWEB address (ltcmweb1…), to which no payout is sent: it must begin with ltc1, L or M';
  if (base58Hash(text, [BITCOIN_TOO]))
    return 'may be a Bitcoin address (3…), where LTC are lost: Litecoin wallets show an address of theirs as M…';
  const hash = hashOf(text);
  return hash !== null && isUnspendable(bytesToHex(hash)) ? NOBODY_HAS_ITS_KEY : null;
}

/** Whether a text is an address of a test network, where LTC are worth nothing. */
export function isTestLtcAddress(text: string): boolean {
  return ['tltc', 'rltc'].some((prefix) => segwitHash(text, prefix) !== null);
}

/** The hash, or the key, in an address of the main network; null for any other text. */
function hashOf(text: string): Uint8Array | null {
  return isSegwitText(text) ? segwitHash(text, 'ltc') : base58Hash(text, VERSIONS);
}

function isSegwitText(text: string): boolean {
  return /^ltc1/i.test(text);
}

/** The hash in a segwit address: version 0 has a hash in bech32, version 1 (taproot) a key in bech32m. */
function segwitHash(text: string, prefix: string): Uint8Array | null {
  return witnessOf(bech32, text, prefix, 0, [20, 32]) ?? witnessOf(bech32m, text, prefix, 1, [32]);
}

function witnessOf(
  coder: typeof bech32,
  text: string,
  expected: string,
  version: number,
  lengths: readonly number[],
): Uint8Array | null {
  return tryDecode(() => {
    const { prefix, words } = coder.decode(text as `${string}1${string}`, 90);
    const bytes = coder.fromWords(words.slice(1));
    const isAddress = prefix === expected && words[0] === version && lengths.includes(bytes.length);
    return isAddress ? bytes : null;
  });
}
