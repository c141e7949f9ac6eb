import { PreconditionError } from '../../../kernel/errors.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { FamilyMirror } from '../../../upstream/family-mirror.ts';
import { createKeyedRequests } from '../../../upstream/keyed-requests.ts';
import { refusalOfCreation } from '../../../upstream/responses.ts';
import {
  type CreateVoucherInput,
  createVoucherInput,
  type VoucherService,
  voucherFromJson,
} from '../model.ts';
import type { UpstreamVoucher } from '../upstream-voucher.ts';
import { voucherFromWire } from '../wire.ts';
import { observationOf } from './mirror.ts';

const FIELDS = Object.keys(createVoucherInput.shape);

/** Requests for vouchers to the service. */
export function createVoucherRequests({
  mirror,
  ...facade
}: UpstreamDependencies & { mirror: FamilyMirror<UpstreamVoucher> }) {
  const requests = createKeyedRequests<Omit<CreateVoucherInput, 'idempotencyKey'>, UpstreamVoucher>(facade, {
    kind: 'createVoucher',
    inWords: 'creating vouchers',
    pathOf: () => '/v1/vouchers',
    read: voucherFromWire,
    contradictionOf: ({ amountCents }, { valueCents }) =>
      amountCents === valueCents ? null : 'another amount, or none',
    observationOf: (claim, _, at, made) => observationOf(claim, at, made),
    refusalOf: (answer) =>
      refusalOfCreation(answer, {
        fields: FIELDS,
        conflict: (message) => new PreconditionError('NOT_OFFERED', message ?? 'No vouchers are offered'),
      }),
  });
  const create: VoucherService['create'] = async (tenant, { idempotencyKey, ...wanted }) => {
    assertTaken(facade, 'vouchers', 'Creating vouchers');
    const { resourceId, replayed } = await requests
      .run(tenant, { key: idempotencyKey ?? null, input: wanted, wanted, body: wanted })
      .finally(() => facade.pollNow(tenant, 'voucher'));
    const known = await mirror.find(tenant, resourceId);
    return { voucher: voucherFromJson(known!.snapshot), replayed };
  };
  return { create, kinds: requests.kinds };
}
