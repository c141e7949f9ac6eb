import { bech32, bech32m } from '@scure/base';
import { isBase58Check, shortenAddress, tryDecode } from './addresses.ts';
import type { MethodRecord } from './method.ts';

export const ltc: MethodRecord = {
  graphql: { name: 'LTC', description: 'A payout to a Litecoin address, from the LTC balance.' },
  label: 'LTC',
  cli: { inWords: 'in LTC', column: 'ltc' },
  destination: {
    inWords: 'LTC address',
    mustBe: 'must be an LTC address of the main network, with its checksum',
    parse: parseLtcAddress,
    mask: shortenAddress,
    isPublic: true,
    inText: [],
  },
  defaultFeeCents: 500,
  debits: 'ltc',
  leavesUnconfirmed: false,
  hourly: null,
  rail: { simulatedMs: 5_000, namesRecipient: false },
};

/** P2PKH (L…), P2SH (M…), and P2SH in its older form (3…). */
const VERSIONS: readonly number[] = [0x30, 0x32, 0x05];

/** Parses an LTC address of the main network, checksum included, into its normal form; null where the text is none. */
export function parseLtcAddress(text: string): string | null {
  if (/^ltc1/i.test(text)) return isSegwit(text) ? text.toLowerCase() : null;
  return isBase58Check(text, VERSIONS) ? text : null;
}

/** Whether a text is an address of a test network, where LTC are worth nothing. */
export function isTestLtcAddress(text: string): boolean {
  return ['tltc', 'rltc'].some((prefix) => isSegwit(text, prefix));
}

/** Whether a text is a segwit address: of version 0, a hash in bech32, or of version 1 (taproot), a key in bech32m. */
function isSegwit(text: string, prefix = 'ltc'): boolean {
  return isWitness(bech32, text, prefix, 0, [20, 32]) || isWitness(bech32m, text, prefix, 1, [32]);
}

function isWitness(
  coder: typeof bech32,
  text: string,
  expected: string,
  version: number,
  lengths: readonly number[],
): boolean {
  return (
    tryDecode(() => {
      const { prefix, words } = coder.decode(text as `${string}1${string}`, 90);
      const bytes = coder.fromWords(words.slice(1));
      return prefix === expected && words[0] === version && lengths.includes(bytes.length);
    }) ?? false
  );
}
