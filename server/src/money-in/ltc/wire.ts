import { z } from 'zod';
import { type JsonRecord, readLitoshi, readNumber, readText } from '../../kernel/lenient-json.ts';
import { ltcText } from '../../kernel/money.ts';
import { isTestLtcAddress, parseLtcAddress } from '../../kernel/payout-methods/ltc.ts';
import type { StoredLtcRequest } from './model.ts';
import type { UpstreamLtcRequest } from './upstream-request.ts';

// ── The members of a payment by LTC in the REST interface ───────────────────────────────────────

const amount = z.string().nullable();

/** The members are all null for a payment by another method. */
export const ltcWireShape = {
  ltcAddress: z
    .string()
    .nullable()
    .meta({ description: 'The address of this payment alone; null unless by LTC' }),
  ltcAmount: amount.meta({
    description: 'LTC to send, as quoted at the creation; null unless by LTC',
    examples: ['0.24480680'],
  }),
  ltcReceived: amount.meta({
    description: 'LTC seen on the chain so far, confirmed or not; null unless by LTC',
  }),
  confirmations: z.int().nullable().meta({
    description:
      'Confirmations of the amount, at most those required: 0 until all of it is seen; null unless by LTC',
  }),
  requiredConfirmations: z
    .int()
    .nullable()
    .meta({ description: '2, from R$ 1.000,00 on 6; null unless by LTC' }),
};

export function ltcToWire(ltc: StoredLtcRequest | null) {
  return {
    ltcAddress: ltc?.address ?? null,
    ltcAmount: ltc && ltcText(ltc.litoshi),
    ltcReceived: ltc && ltcText(ltc.receivedLitoshi),
    confirmations: ltc?.confirmations ?? null,
    requiredConfirmations: ltc?.requiredConfirmations ?? null,
  };
}

// ── Read from another service ───────────────────────────────────────────────────────────────────

/** Reads the members of a request; null if none is present. */
export function readLtcMembers(record: JsonRecord): UpstreamLtcRequest | null {
  const ltc = {
    address: readAddress(record.ltcAddress),
    litoshi: readLitoshi(record.ltcAmount),
    receivedLitoshi: readLitoshi(record.ltcReceived),
    confirmations: readCount(record.confirmations),
    requiredConfirmations: readCount(record.requiredConfirmations),
  };
  return ltc.address === null && ltc.litoshi === null ? null : ltc;
}

/** Reads an address with its checksum, because a payer's money would be lost at a wrong one. */
function readAddress(value: unknown): string | null {
  const text = readText(value);
  if (text === null) return null;
  return parseLtcAddress(text) ?? (isTestLtcAddress(text) ? text : null);
}

function readCount(value: unknown): number | null {
  const count = readNumber(value);
  return count !== null && Number.isSafeInteger(count) && count >= 0 && count <= 1_000 ? count : null;
}
