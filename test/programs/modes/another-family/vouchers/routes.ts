import { z } from 'zod';
import { pageOf, pageQuery, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import { createVoucherInput, type StoredVoucher, type VoucherService, voucherIdText } from './model.ts';
import { voucherToWire, voucherWire } from './wire.ts';

const ABOUT = { tag: 'Vouchers', section: '4.5' } as const;

/** Vouchers in the REST interface. */
export function createVoucherRoutes({
  vouchers,
}: {
  vouchers: VoucherService<StoredVoucher>;
}): RestOperation[] {
  return [
    restOperation({
      ...ABOUT,
      method: 'POST',
      path: '/v1/vouchers',
      operationId: 'createVoucher',
      summary: 'Create a voucher',
      body: createVoucherInput,
      example: { valueCents: 5000 },
      answers: { 201: { description: 'The voucher, open', schema: voucherWire } },
      errors: { 409: 'The idempotency key was used with another input' },
      async handle({ caller, body }) {
        const { voucher, replayed } = await vouchers.create(caller.tenant, body);
        return { status: 201, body: voucherToWire(voucher), replayed };
      },
    }),
    restOperation({
      ...ABOUT,
      method: 'GET',
      path: '/v1/vouchers/{id}',
      operationId: 'getVoucher',
      summary: 'Look a voucher up',
      params: z.object({ id: voucherIdText }),
      answers: { 200: { description: 'The voucher as it stands', schema: voucherWire } },
      errors: { 404: 'No such voucher of this account in this environment' },
      async handle({ caller, params }) {
        const voucher = await vouchers.find(caller.tenant, params.id);
        if (!voucher) throw new NotFoundError('Voucher not found');
        return { status: 200, body: voucherToWire(voucher) };
      },
    }),
    restOperation({
      ...ABOUT,
      method: 'GET',
      path: '/v1/vouchers',
      operationId: 'listVouchers',
      summary: 'List vouchers, newest first',
      query: pageQuery,
      answers: { 200: { description: 'A page', schema: pageOf('vouchers', voucherWire) } },
      async handle({ caller, query }) {
        const { items, total } = await vouchers.listPage(caller.tenant, query);
        return { status: 200, body: { vouchers: items.map(voucherToWire), total, ...query } };
      },
    }),
  ];
}
