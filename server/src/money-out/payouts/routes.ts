import { z } from 'zod';
import {
  anyOf,
  centsQuery,
  listQuery,
  periodQuery,
  readListQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError, ValidationError } from '../../kernel/errors.ts';
import { PAYOUT_METHODS } from '../../kernel/payout-methods/registry.ts';
import {
  isPayoutCode,
  isWithdrawalId,
  type OwnPayout,
  type PayoutFilter,
  type PayoutService,
} from './model.ts';
import { payoutRequestWire, payoutToWire, payoutWire, statusesOfWord, WIRE_STATUSES } from './wire.ts';

const TAG = 'Payouts';

/** The parameters of lists and of the export, beside the status. */
export const DETAILS = {
  method: anyOf(PAYOUT_METHODS, 'withdrawals'),
  ...periodQuery('requested', 'withdrawals that were requested'),
  ...periodQuery('processed', 'withdrawals that were completed or denied'),
  ...centsQuery('withdrawals'),
  externalId: textQuery('Selects withdrawals with this externalId'),
  reference: textQuery('Selects the withdrawal with this withdrawalId, code or endToEndId'),
};

/** Payouts of the main account in the REST interface (the document's 4.5). */
export function createPayoutRoutes({ payouts }: { payouts: PayoutService<OwnPayout> }): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/payouts',
      operationId: 'requestPayout',
      summary: 'Withdraw from the main account',
      description:
        'At most what the wallet shows as withdrawable, and 10 withdrawals an hour, 5 of them turbo. `ltc` takes its value in reais from the LTC balance.',
      tag: TAG,
      section: '4.5',
      body: payoutRequestWire,
      example: {
        amount: 149.9,
        method: 'pix',
        walletAddress: 'maria@example.com',
        idempotencyKey: 'saque-1042',
      },
      answers: { 201: { description: 'The withdrawal, debited and queued', schema: payoutWire } },
      errors: {
        400: 'More than can be withdrawn, with the detailed reason',
        409: 'The idempotency key was used with another input',
        429: 'The withdrawals of this hour are used up',
        502: 'No quote for LTC can be had; nothing was debited',
      },
      async handle({ caller, body }) {
        const { payout, replayed } = await payouts.request(caller.tenant, body).catch(asOnTheWire);
        return { status: 201, body: payoutToWire(payout), replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/payouts',
      operationId: 'listPayouts',
      summary: 'List withdrawals, newest first',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        status: anyOf(WIRE_STATUSES, 'withdrawals', statusesOfWord),
        ...DETAILS,
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('payouts', payoutWire) } },
      async handle({ caller, query }) {
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => payouts.listPage(caller.tenant, readListQuery<PayoutFilter>(page)),
          made: (key) => payouts.findByKey(caller.tenant, key),
        });
        return { status: 200, body: { payouts: items.map(payoutToWire), total, ...query } };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/payouts/{id}',
      operationId: 'getPayout',
      summary: 'Look a withdrawal up',
      tag: TAG,
      section: '4.5',
      params: z.object({
        id: z
          .string()
          .refine(
            (text) => isWithdrawalId(text) || isPayoutCode(text),
            'must be 24 hex digits, in lower case, or SAQ- and 12 letters and digits',
          )
          .meta({ description: 'Its withdrawalId, or its code' }),
      }),
      answers: { 200: { description: 'The withdrawal as it stands', schema: payoutWire } },
      errors: { 404: 'No such withdrawal of this account in this environment' },
      async handle({ caller, params }) {
        const payout = await payouts.find(caller.tenant, params.id);
        if (!payout) throw new NotFoundError('Payout not found');
        return { status: 200, body: payoutToWire(payout) };
      },
    }),
  ];
}

/** Rethrows a refusal of the rules with the wire's name for `amountCents`, which is `amount`. */
function asOnTheWire(error: unknown): never {
  if (!(error instanceof ValidationError)) throw error;
  throw new ValidationError(
    error.fields.map(({ path, message }) => ({ path: path.replace('amountCents', 'amount'), message })),
  );
}
