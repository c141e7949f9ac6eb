import { z } from 'zod';
import { type JsonRecord, readCents, readId, readRecord, readRecords } from '../../kernel/lenient-json.ts';
import { cents } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { pixToWire, pixWebhook, pixWebhooks, pixWireShape, readPixMembers } from '../pix/wire.ts';
import type { ShownRefund } from '../receiving/model.ts';
import { findEventRecord, kindOfEvent, readPayment, readPaymentEvent } from '../receiving/wire.ts';
import {
  type Charge,
  type ChargeSplit,
  isAnyChargeId,
  kindOfCharge,
  ownerAmountOf,
  type StoredCharge,
} from './model.ts';
import { basisPointsOf, percentText } from './percent.ts';
import type { UpstreamCharge } from './upstream-charge.ts';

// ── A charge in the REST interface (the document's 2.5) ─────────────────────────────────────────

const splitWire = z.object({
  subaccountId: z.string(),
  amountCents: cents,
  percent: z
    .number()
    .nullable()
    .meta({ description: 'Of the net amount, as it was asked for; null for a fixed amount' }),
  refundedCents: cents.meta({
    description: 'Of it, taken back from the subaccount by refunds, under way or completed',
  }),
});

export const chargeWire = z
  .object({
    chargeId: z.string().meta({
      description: 'psc_, or psplit_ of a split charge, and 32 hex digits',
      examples: ['psc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'],
    }),
    ...pixWireShape('A day after creation, or as it was asked for'),
    ownerAmountCents: cents.meta({
      description: 'The account’s own part: the net amount without the splits',
    }),
    splits: z.array(splitWire).meta({ description: 'The parts of subaccounts; empty where it is not split' }),
    metadata: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'The string given at creation, byte for byte; a split charge has none' }),
    externalId: z
      .string()
      .nullable()
      .meta({ description: 'Your own number for it; null where none was given' }),
  })
  .meta({ id: 'Charge' });

/** Encodes a charge. `publicUrl` is the address of this server in the payer's browser. */
export function chargeToWire(
  charge: StoredCharge,
  refunds: readonly ShownRefund[],
  publicUrl: string,
): z.output<typeof chargeWire> {
  const { metadata, ...shown } = pixToWire(charge, { id: charge.chargeId, refunds, publicUrl });
  return {
    ...shown,
    ownerAmountCents: ownerAmountOf(charge)!,
    splits: charge.splits.map(splitToWire),
    ...(kindOfCharge(charge.chargeId) === 'split' ? {} : { metadata }),
  };
}

function splitToWire({ subaccountId, amountCents, percent, refundedCents }: ChargeSplit) {
  return { subaccountId, amountCents, refundedCents, percent: percent === null ? null : Number(percent) };
}

// ── The webhook (section 6.3) ───────────────────────────────────────────────────────────────────

/** The events, with the members of each. */
export const chargeWebhooks = pixWebhooks('charge', {
  names: { chargeId: chargeWire.shape.chargeId },
  optional: {
    expired: '. For a charge that is paid late, charge.paid follows.',
    failed: '',
    refunded: '',
  },
  details: {
    splits: z.array(splitWire).optional().meta({ description: 'Of a split charge alone' }),
    metadata: chargeWire.shape.metadata,
    externalId: z.string().optional().meta({ description: 'Your own number for it, where one was given' }),
  },
});

/**
 * Encodes the event of a charge's new status: `charge.paid`, and the optional events. A split charge has its
 * splits instead of metadata. The merchant's own number is included if one was given.
 */
export function chargeWebhook(
  charge: Charge,
  previousStatus: Charge['status'] | null,
  environment: Environment,
) {
  const { chargeId, metadata, splits, externalId } = charge;
  return pixWebhook(charge, previousStatus, {
    environment,
    family: 'charge',
    names: { chargeId },
    details: {
      ...(kindOfCharge(chargeId) === 'split' ? { splits: splits.map(splitToWire) } : { metadata }),
      ...(externalId != null && { externalId }),
    },
  });
}

// ── Read from another service: documented members by name, others by form ────────────────────────

/** Reads the response to a lookup; null if it is not one. */
export function chargeFromWire(body: unknown): UpstreamCharge | null {
  const record = readRecords(body).find(hasChargeId);
  return record ? { ...ownMembersOf(record), ...readPayment(record) } : null;
}

/** Reads the event of a webhook: any with a `chargeId` is one, unless it is about a resource of another family. */
export function chargeEventFromWire(payload: unknown): UpstreamCharge | null {
  const record = findEventRecord(payload, isEventRecord, 'chargeId');
  return record ? { ...ownMembersOf(record), ...readPaymentEvent(record, 'charge') } : null;
}

type Identified = JsonRecord & ({ chargeId: string } | { id: string });

function hasChargeId(record: JsonRecord): record is Identified {
  return chargeIdOf(record) !== null;
}

function isEventRecord(record: JsonRecord): record is Identified {
  const isNamed = Object.values(record).some(
    (value) => typeof value === 'string' && kindOfEvent(value, 'charge') !== null,
  );
  return isNamed ? hasChargeId(record) : typeof record.chargeId === 'string' && hasChargeId(record);
}

function chargeIdOf({ chargeId, id }: JsonRecord): string | null {
  const found = [chargeId, id].find((text) => typeof text === 'string' && isAnyChargeId(text));
  return (found as string | undefined) ?? null;
}

function ownMembersOf(record: Identified) {
  return {
    chargeId: chargeIdOf(record)!,
    ...readPixMembers(record),
    splits: Array.isArray(record.splits) ? record.splits.flatMap(splitFromWire) : null,
  };
}

function splitFromWire(value: unknown): ChargeSplit[] {
  const record = readRecord(value);
  const [subaccountId, amountCents] = [readId(record?.subaccountId), readCents(record?.amountCents)];
  if (!record || subaccountId === null || amountCents === null) return [];
  const basisPoints = ['number', 'string'].includes(typeof record.percent)
    ? basisPointsOf(String(record.percent))
    : null;
  const percent = basisPoints === null ? null : percentText(basisPoints);
  return [{ subaccountId, amountCents, percent, refundedCents: readCents(record.refundedCents) ?? 0 }];
}
