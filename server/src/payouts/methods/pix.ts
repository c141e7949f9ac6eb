import { maskedKey, PIX_KEYS_IN_TEXT, parsePixKey } from '../../kernel/pix-key.ts';
import type { DestinationKind, MethodRecord } from './method.ts';

/** A PIX key. It is personal data: only the receiver of the merchant's webhooks sees it whole. */
export const pixKey: DestinationKind = {
  inWords: 'PIX key',
  mustBe: 'must be a PIX key: CPF or CNPJ with its check digits, phone as +55…, e-mail, or random key',
  parse: (text) => parsePixKey(text)?.key ?? null,
  refusal: () => null,
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
  dustLitoshi: null,
  leavesUnconfirmed: false,
  hourly: null,
  rail: { simulatedMs: 2_000, namesRecipient: true },
};
