import { z } from 'zod';
import {
  booleanQuery,
  listQuery,
  readListQuery,
  receivedQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { PAYMENT_STATUSES, type RefundsOfPayments } from '../receiving/model.ts';
import {
  type ChargeFilter,
  type ChargeService,
  chargeIdText,
  createChargeInput,
  type StoredCharge,
} from './model.ts';
import { chargeToWire, chargeWire } from './wire.ts';

const TAG = 'Charges';

/** Charges and split charges in the REST interface (the document's 2.5, 4.5 and 8). */
export function createChargeRoutes({
  charges,
  refunds,
  requestKeys,
  publicUrl,
}: {
  charges: ChargeService<StoredCharge>;
  refunds: RefundsOfPayments;
  requestKeys: RequestKeys;
  publicUrl: string;
}): RestOperation[] {
  async function toWire(tenant: Tenant, shown: readonly StoredCharge[]) {
    // Unpaid charges have no refunds.
    const paid = shown.filter(({ paidAt }) => paidAt !== null).map(({ chargeId }) => chargeId);
    const refundsOf = await refunds.ofResources(tenant, 'charge', paid);
    return shown.map((charge) =>
      chargeToWire(charge, refundsOf[paid.indexOf(charge.chargeId)] ?? [], publicUrl),
    );
  }

  return [
    restOperation({
      method: 'POST',
      path: '/v1/charges',
      operationId: 'createCharge',
      summary: 'Create a charge by PIX, also one that is split between subaccounts',
      description:
        'Show the payer `pixCopyPaste`, as text and as a QR code, or send it to `checkoutUrl`. With `splits` it is a split charge: each beneficiary gets its part the moment that it is paid, fixed or in percent of the net amount rounded down, and the account gets the rest. Where the bank gives no code the answer is 502: repeat the request with its idempotencyKey.',
      tag: TAG,
      section: '4.5',
      body: createChargeInput,
      example: {
        valueCents: 10000,
        description: 'Aula de violão',
        splits: [{ subaccountId: 'sacc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b', percent: 80 }],
      },
      answers: { 201: { description: 'The charge, pending', schema: chargeWire } },
      errors: {
        404: 'No such subaccount of this account in this environment',
        409: 'PIX is not configured for the account, or the idempotency key was used with another input',
        502: 'The bank gave no code',
      },
      async handle({ caller, body }) {
        const { charge, replayed } = await charges.create(caller.tenant, body);
        const [shown] = await toWire(caller.tenant, [charge]);
        return { status: 201, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/charges/{id}',
      operationId: 'getCharge',
      summary: 'Look a charge up',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: chargeIdText }),
      answers: { 200: { description: 'The charge as it stands', schema: chargeWire } },
      errors: { 404: 'No such charge of this account in this environment' },
      async handle({ caller, params }) {
        const charge = await charges.find(caller.tenant, params.id);
        if (!charge) throw new NotFoundError('Charge not found');
        const [shown] = await toWire(caller.tenant, [charge]);
        return { status: 200, body: shown! };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/charges/{id}',
      operationId: 'cancelCharge',
      summary: 'Cancel a pending charge',
      description:
        'It is expired at once. Money that comes later is returned to its payer. Repeated, it changes nothing. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: chargeIdText }),
      answers: { 200: { description: 'The charge, expired', schema: chargeWire } },
      errors: {
        404: 'No such charge of this account in this environment',
        409: 'It is not pending: it has been paid, has expired or has failed',
      },
      async handle({ caller, params }) {
        const { charge, replayed } = await charges.cancel(caller.tenant, params.id);
        const [shown] = await toWire(caller.tenant, [charge]);
        return { status: 200, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/charges',
      operationId: 'listCharges',
      summary: 'List charges, newest first',
      description: 'An extension of the document.',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        ...receivedQuery(
          PAYMENT_STATUSES,
          'Selects the charge with this id, or paid by the PIX with this endToEndId',
        ),
        externalId: textQuery('Selects charges with this label'),
        split: booleanQuery('Selects split charges where true, and charges without splits where false'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('charges', chargeWire) } },
      async handle({ caller, query }) {
        const { tenant } = caller;
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => charges.listPage(tenant, readListQuery<ChargeFilter>(page)),
          made: async (key) => {
            const id = await requestKeys.resourceOf(tenant, 'createCharge', key);
            return id === null ? null : charges.find(tenant, id);
          },
        });
        return { status: 200, body: { charges: await toWire(caller.tenant, items), total, ...query } };
      },
    }),
  ];
}
