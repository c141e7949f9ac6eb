import type { OwnPayout } from '../../../server/src/money-out/payouts/model.ts';
import type { UpstreamPayout } from '../../../server/src/money-out/payouts/upstream-payout.ts';

/** A whole payout, for tests about a part of one: a new member of `Payout` is added only here. */
export const PAYOUT: OwnPayout = {
  withdrawalId: '0123456789abcdef01234567',
  code: 'SAQ-8NY3SQZHKXF9',
  version: 1,
  method: 'pix',
  status: 'pending',
  amountCents: 14_990,
  feeCents: 100,
  litoshi: null,
  destination: 'ana@padaria.example',
  requestedAt: new Date('2026-03-02T12:00:00.000Z'),
  processedAt: null,
  returnedAt: null,
  deniedReason: null,
  endToEndId: null,
  externalId: null,
  destinationKind: 'email',
};

/** The same payout as another service returns it. */
export const UPSTREAM_PAYOUT: UpstreamPayout = {
  withdrawalId: '65f000000000000000000001',
  code: 'SAQ-1',
  method: 'pix_turbo',
  status: 'pending',
  amountCents: 10_000,
  feeCents: null,
  litoshi: null,
  destination: 'a***@padaria.example',
  requestedAt: new Date('2026-03-02T12:00:00.000Z'),
  processedAt: null,
  returnedAt: null,
  deniedReason: null,
  endToEndId: null,
};
