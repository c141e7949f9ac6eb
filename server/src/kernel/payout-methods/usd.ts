import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { base58Hash, isUnspendable, NOBODY_HAS_ITS_KEY, shortenAddress } from './addresses.ts';
import type { DestinationVariant, MethodRecord } from './method.ts';

export const usd: MethodRecord = {
  graphql: { name: 'USDT', description: 'A payout to a USDT address; usd in REST.' },
  label: 'USDT',
  cli: { inWords: 'in USDT', column: 'usd' },
  destination: {
    inWords: 'USDT address',
    variants: 'TRON or ERC-20',
    mustBe: 'must be a USDT address, on TRON (T…) or ERC-20 (0x…), with its checksum',
    parse: parseUsdtAddress,
    refusal: refusalOf,
    variantOf,
    mask: shortenAddress,
    isPublic: true,
    inText: [],
  },
  defaultFeeCents: 500,
  debits: 'brl',
  ceiling: null,
  dustLitoshi: null,
  leavesUnconfirmed: false,
  hourly: null,
  rail: { simulatedMs: 5_000, comesBack: false, namesRecipient: false },
};

const TRON_VERSIONS: readonly number[] = [0x41];

/** Parses a TRON or ERC-20 address, with any checksum, into its normal form; null for any other text. */
export function parseUsdtAddress(text: string): string | null {
  if (text.startsWith('0x')) return parseErc20Address(text);
  return base58Hash(text, TRON_VERSIONS) ? text : null;
}

/**
 * The contracts of USDT, which a person copies for an address of its own. Those of other chains are refused too, because an address
 * is the same 20 bytes on each, and nobody has a key of these.
 */
const CONTRACTS = [
  'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  // On BNB Chain, Polygon, Arbitrum, Optimism and Avalanche.
  '0x55d398326f99059fF775485246999027B3197955',
  '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
  '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
  '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58',
  '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
].map(accountOf);
/**
 * Burn addresses that `isUnspendable` does not recognize: the black hole of TRON's first block, and one of
 * Ethereum.
 */
const BURNED = ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', '0xdead000000000000000042069420694206942069'].map(
  accountOf,
);

/** The reason for refusing a USDT address. */
function refusalOf(text: string): string | null {
  const account = accountOf(text);
  if (account === null) return null;
  if (CONTRACTS.includes(account))
    return 'is the contract of USDT itself, which keeps what is sent to it: it must be the address of a wallet';
  return BURNED.includes(account) || isUnspendable(account) ? NOBODY_HAS_ITS_KEY : null;
}

/** The chain of an address, also of a shortened one. */
function variantOf(text: string): DestinationVariant | null {
  if (text.startsWith('0x')) return 'erc20_address';
  return text.startsWith('T') ? 'tron_address' : null;
}

/** The 20 bytes of an address, in lower-case hex; null for any other text. */
function accountOf(text: string): string | null {
  const hash = base58Hash(text, TRON_VERSIONS);
  return hash ? bytesToHex(hash) : (parseErc20Address(text)?.slice(2).toLowerCase() ?? null);
}

/**
 * Parses an ERC-20 address into EIP-55, whose checksum is the case of the letters; letters of one case have
 * no checksum.
 */
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
