import type { Cents } from '../money.ts';
import { type ParsedPixKey, PIX_KEY_KINDS, type PixKeyKind } from '../pix-key.ts';
import type { TextPattern } from '../text.ts';

/**
 * One payout method: everything in which methods differ. Its key in `registry.ts` is its name on the wire and
 * in the database.
 */
export interface MethodRecord {
  /** The value of the enum `PayoutMethod` in GraphQL, with its description. */
  graphql: { name: string; description: string };
  /** The name that the widget's table shows, the same in every language. */
  label: string;
  /** The texts of the command line: in the help of `--payout-fee-…`, and above the column of the fee. */
  cli: { inWords: string; column: string };
  destination: DestinationKind;
  /** The fee of an account for which no other is set. */
  defaultFeeCents: Cents;
  /** The balance that is debited: BRL in cents, or LTC in litoshi as the bank quotes them. */
  debits: 'brl' | 'ltc';
  /** The member of the account that limits a payout of this method; null for none. */
  ceiling: 'pixMaxCents' | null;
  /** The fewest litoshi that the network carries to a destination, after the fee; null if it has no limit. */
  dustLitoshi: number | null;
  /** Whether the money leaves before the bank confirms it. Only such a payout is ever `processing`. */
  leavesUnconfirmed: boolean;
  /**
   * The method's own hourly limit, in addition to the shared one, and its name in a refusal; null for none.
   */
  hourly: { most: number; inWords: string } | null;
  rail: Rail;
}

/** The variants of destinations: the kinds of PIX keys, and the addresses of each chain. On the wire `destinationKind`. */
export const DESTINATION_VARIANTS = [
  ...PIX_KEY_KINDS,
  'ltc_address',
  'tron_address',
  'erc20_address',
] as const;
export type DestinationVariant = (typeof DESTINATION_VARIANTS)[number];

/** A kind of destination, which several methods may share. */
export interface DestinationKind {
  /** The noun in descriptions: `PIX key`. */
  inWords: string;
  /** The variants, for the descriptions of an input: `TRON or ERC-20`. */
  variants?: string;
  /** The message that refuses a text which is no destination of this method: `must be a PIX key: …`. */
  mustBe: string;
  /** Parses a text into the normal form; null if it is no destination of this method. */
  parse(text: string): string | null;
  /**
   * The reason for refusing a text, if `mustBe` does not explain it; null for none. It applies to requests
   * alone: a payout that another service has made to such a destination is still read by `parse`.
   */
  refusal(text: string): string | null;
  /** Parses a text as a PIX key of the type that the request names. Only PIX has it. */
  parseAs?(text: string, type: PixKeyKind): ParsedPixKey;
  /** The variant of a destination, also of a masked one; null if the text does not show it. */
  variantOf(text: string): DestinationVariant | null;
  /** Hides most of a destination in its normal form; null if the text is no destination of this method. */
  mask(text: string): string | null;
  /**
   * Whether a public ledger shows the destination. If so, the merchant sees it whole, and a mask only
   * shortens it.
   */
  isPublic: boolean;
  /**
   * The patterns by which the destination is found in the text of an error, each with its replacement in the
   * log. Empty for a public one.
   */
  inText: readonly TextPattern[];
}

/** The network that carries the money, as the simulated bank plays it. */
export interface Rail {
  /** The time from the arrival of a transfer at the simulated bank to its end. */
  simulatedMs: number;
  /** Whether the receiver or its bank can send a completed transfer back. */
  comesBack: boolean;
  /** Whether a receipt has an end-to-end id, and names the recipient and the recipient's bank. */
  namesRecipient: boolean;
}
