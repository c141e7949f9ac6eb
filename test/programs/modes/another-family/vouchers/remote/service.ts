import { askedOf } from '../../../kernel/list-filter.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createFamilyReads } from '../../../upstream/family-reads.ts';
import { withNotOffered } from '../../../upstream/responses.ts';
import {
  isVoucherId,
  type Voucher,
  type VoucherFilter,
  type VoucherService,
  voucherConditions,
} from '../model.ts';
import type { UpstreamVoucher } from '../upstream-voucher.ts';
import { voucherFromWire } from '../wire.ts';
import { createVoucherRequests } from './commands.ts';
import { voucherFamily } from './mirror.ts';

const POLL_MS = 30_000;

/** Vouchers in front of another service. */
export function createRemoteVouchers(facade: UpstreamDependencies): RemoteSlice<VoucherService> {
  const { readsFor, lookups, mirror, endpoints, ...following } = createFamilyReads<
    Voucher,
    UpstreamVoucher,
    VoucherFilter
  >(facade, {
    family: voucherFamily,
    endpoint: { name: 'GET /v1/vouchers/{id}', inWords: 'looking a voucher up' },
    pathOf: (voucherId) => `/v1/vouchers/${voucherId}`,
    isId: isVoucherId,
    ofFamily: { name: 'GET /v1/vouchers', inWords: 'vouchers', path: '/v1/vouchers' },
    offered: (read) => withNotOffered('Looking a voucher up', read),
    rangeOf: ({ status, createdAfter, createdBefore, ...details }) => ({
      status,
      period: { from: createdAfter, before: createdBefore },
      details: { asked: askedOf(voucherConditions, details) },
    }),
    readClaim: voucherFromWire,
    readEvent: voucherFromWire,
    pollInterval: ({ status }) => (status === 'paid' ? null : POLL_MS),
  });
  const requests = createVoucherRequests({ ...facade, mirror });
  return {
    serviceFor: (requester) => ({ ...readsFor(requester), create: requests.create }),
    ...following,
    requests: requests.kinds,
  };
}
