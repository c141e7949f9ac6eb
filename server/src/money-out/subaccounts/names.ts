import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ValidationError } from '../../kernel/errors.ts';
import { objectId, readableCode } from '../../kernel/ids.ts';
import { isObjectId } from '../../kernel/lenient-json.ts';

const SUBACCOUNT_ID = /^sacc_[0-9a-f]{32}$/;

export function newSubaccountId(): string {
  return `sacc_${randomBytes(16).toString('hex')}`;
}

export function newTransferReference(): string {
  return `rep_${randomBytes(16).toString('hex')}`;
}

/** The kind of a reference: the five forms of 2.2. The two that begin with `saq_` share a column. */
export type ReferenceKind = 'withdrawalId' | 'turboCode' | 'payoutId' | 'subCode';

const REFERENCES: readonly [RegExp, ReferenceKind][] = [
  [/^[0-9a-f]{24}$/, 'withdrawalId'],
  [/^TURBO-[0-9A-Z]{1,64}$/, 'turboCode'],
  [/^SUB-[0-9A-Z]{1,64}$/, 'subCode'],
  [/^saq_(?:[0-9a-f]{32}|idem_[!-~](?:[ -~]{0,126}[!-~])?)$/, 'payoutId'],
];

/** The kind of a reference; null if it has none of the forms. */
export function referenceKind(reference: string): ReferenceKind | null {
  return REFERENCES.find(([form]) => form.test(reference))?.[1] ?? null;
}

/** A reference as it is compared: a withdrawal id in lower case, any other as it is. */
export function normalizeReference(reference: string): string {
  return isObjectId(reference) ? reference.toLowerCase() : reference;
}

/**
 * The `payoutId` of a new payout. With a key it is derived from it, because a tenant has one payout for each
 * key; without one it is random.
 */
export function payoutReference(idempotencyKey: string | null | undefined): string {
  return idempotencyKey == null ? `saq_${randomBytes(16).toString('hex')}` : referenceOfKey(idempotencyKey);
}

/** The beginning of the reference of a payout that was requested with a key. */
export const REFERENCE_OF_A_KEY = 'saq_idem_';

/** The reference of the payout that the request with a key has made, or would make. */
export function referenceOfKey(key: string): string {
  return REFERENCE_OF_A_KEY + key;
}

/** The key in the reference of a payout; null if the reference has none. */
export function keyInReference(reference: string): string | null {
  return reference.startsWith(REFERENCE_OF_A_KEY) ? reference.slice(REFERENCE_OF_A_KEY.length) : null;
}

/** New names for a payout; some may stay unused. */
export interface PayoutNames {
  withdrawalId: string;
  turboCode: string;
  subCode: string;
}

export function newPayoutNames(): PayoutNames {
  return {
    withdrawalId: objectId(),
    turboCode: `TURBO-${readableCode(12)}`,
    subCode: `SUB-${readableCode(12)}`,
  };
}

/** A new `id` of a payout: `sqp_` and 32 hex. */
export function newPayoutKey(): string {
  return `sqp_${randomBytes(16).toString('hex')}`;
}

/** The form of a subaccount's id that this service issues. */
export const subaccountIdText = z
  .string()
  .regex(SUBACCOUNT_ID, 'must be sacc_ and 32 hex digits, in lower case');

/** The form of a subaccount's id that another service may have issued. */
export const anySubaccountId = z.string().regex(/^sacc_[\w.-]{1,64}$/, 'must be sacc_ and what follows it');

const NO_REFERENCE =
  'must be a withdrawal id (24 hex digits, in lower case), a TURBO- or SUB- code, or a saq_ reference';

/** The form of a payout's reference that this service issues. */
export const payoutReferenceText = z.string().refine((text) => referenceKind(text) !== null, NO_REFERENCE);

/** The form of a payout's reference that another service may have issued. */
export const anyPayoutReference = z
  .string()
  .regex(
    /^(?!\.{1,2}$)[!-~](?:[ -~]{0,198}[!-~])?$/,
    'must be 1 to 200 printable ASCII characters, without a space at an end',
  );

/**
 * Asserts that names have a form that this service issues. @throws ValidationError, with `path` before the
 * field
 */
export function assertOwnNames({ subaccountId, reference }: NamesOfPayout, path = ''): void {
  if (subaccountId != null && !SUBACCOUNT_ID.test(subaccountId))
    throw new ValidationError([
      { path: `${path}subaccountId`, message: 'must be sacc_ and 32 hex digits, in lower case' },
    ]);
  if (reference != null && referenceKind(reference) === null)
    throw new ValidationError([{ path: `${path}reference`, message: NO_REFERENCE }]);
}

export interface NamesOfPayout {
  subaccountId?: string | null | undefined;
  reference?: string | null | undefined;
}
