import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { bech32, bech32m, createBase58check } from '@scure/base';

const base58check = createBase58check(sha256);

/** What follows the version byte of a base58check address. */
const HASH_BYTES = 20;
/** P2PKH (L…), P2SH (M…), and P2SH as it was written before (3…). */
const LTC_VERSIONS: readonly number[] = [0x30, 0x32, 0x05];
const TRON_VERSIONS: readonly number[] = [0x41];

/** An LTC address of the main network by its checksum, in its normal form; null where it is none. */
export function parseLtcAddress(text: string): string | null {
  if (/^ltc1/i.test(text)) return isSegwit(text) ? text.toLowerCase() : null;
  return isBase58Check(text, LTC_VERSIONS) ? text : null;
}

/** A TRON or ERC-20 address by its checksum, where it has one, in its normal form; null where it is none. */
export function parseUsdtAddress(text: string): string | null {
  if (text.startsWith('0x')) return parseErc20Address(text);
  return isBase58Check(text, TRON_VERSIONS) ? text : null;
}

/** Written in one case it carries no checksum; else the case of each letter is one (EIP-55), which the normal form has. */
function parseErc20Address(text: string): string | null {
  const digits = /^0x([0-9a-fA-F]{40})$/.exec(text)?.[1];
  if (digits === undefined) return null;
  const normal = withEip55Case(digits.toLowerCase());
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || text === normal ? normal : null;
}

function withEip55Case(digits: string): string {
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(digits)));
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash[at]!, 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

function isBase58Check(text: string, versions: readonly number[]): boolean {
  // Longer than any address: base 58 takes quadratic time.
  if (text.length > 40) return false;
  const bytes = attempt(() => base58check.decode(text));
  return bytes?.length === 1 + HASH_BYTES && versions.includes(bytes[0]!);
}

/** Version 0 is a hash of a key or of a script, in bech32; version 1 (taproot) is a key, in bech32m. */
function isSegwit(text: string): boolean {
  return program(bech32, text, 0, [20, 32]) || program(bech32m, text, 1, [32]);
}

function program(coder: typeof bech32, text: string, version: number, lengths: readonly number[]): boolean {
  return (
    attempt(() => {
      const { prefix, words } = coder.decode(text as `${string}1${string}`, 90);
      const bytes = coder.fromWords(words.slice(1));
      return prefix === 'ltc' && words[0] === version && lengths.includes(bytes.length);
    }) ?? false
  );
}

/** The libraries throw at what is malformed. */
function attempt<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
