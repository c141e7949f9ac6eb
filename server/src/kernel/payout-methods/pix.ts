import {
  kindOfPixKey,
  MUST_BE_PIX_KEY,
  maskedKey,
  PIX_KEYS_IN_TEXT,
  parsePixKey,
  parseTypedPixKey,
} from '../pix-key.ts';
import type { DestinationKind, MethodRecord } from './method.ts';

/** A PIX key. It is personal data: only the receiver of the merchant's webhooks sees it whole. */
export const pixKey: DestinationKind = {
  inWords: 'PIX key',
  mustBe: MUST_BE_PIX_KEY,
  parse: (text) => parsePixKey(text)?.key ?? null,
  refusal: () => null,
  parseAs: parseTypedPixKey,
  variantOf: kindOfPixKey,
  mask: maskedKey,
  isPublic: false,
  inText: PIX_KEYS_IN_TEXT,
};

export const pix: MethodRecord = {
  graphql: { name: 'PIX', description: 'A payout in reais to a PIX key.' },
  label: 'PIX',
  cli: { inWords: 'by PIX', column: 'pix' },
  destination: pixKey,
  defaultFeeCents: 100,
  debits: 'brl',
  ceiling: 'pixMaxCents',
  dustLitoshi: null,
  leavesUnconfirmed: false,
  hourly: null,
  rail: { simulatedMs: 2_000, comesBack: true, namesRecipient: true },
};
