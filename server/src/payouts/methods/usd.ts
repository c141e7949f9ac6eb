import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { isBase58Check, shortenAddress } from './addresses.ts';
import type { MethodRecord } from './method.ts';

export const usd: MethodRecord = {
  graphql: { name: 'USDT', description: 'A payout to a USDT address; usd in REST.' },
  label: 'USDT',
  cli: { inWords: 'in USDT', column: 'usd' },
  destination: {
    inWords: 'USDT address',
    variants: 'TRON or ERC-20',
    mustBe: 'must be a USDT address, on TRON (T…) or ERC-20 (0x…), with its checksum',
    parse: parseUsdtAddress,
    mask: shortenAddress,
    isPublic: true,
    inText: [],
  },
  defaultFeeCents: 500,
  debits: 'brl',
  leavesUnconfirmed: false,
  hourly: null,
  rail: { simulatedMs: 5_000, namesRecipient: false },
};

const TRON_VERSIONS: readonly number[] = [0x41];

/** Parses a TRON or ERC-20 address, with any checksum, into its normal form; null where the text is none. */
export function parseUsdtAddress(text: string): string | null {
  if (text.startsWith('0x')) return parseErc20Address(text);
  return isBase58Check(text, TRON_VERSIONS) ? text : null;
}

/** Parses an ERC-20 address into EIP-55, where the case of the letters is the checksum; in one case there is none. */
function parseErc20Address(text: string): string | null {
  const digits = /^0x([0-9a-fA-F]{40})$/.exec(text)?.[1];
  if (digits === undefined) return null;
  const normal = withEip55Case(digits.toLowerCase());
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isOneCase || text === normal ? normal : null;
}

function withEip55Case(digits: string): string {
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash[at]!, 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}
