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
import { NotFoundError } from '../../kernel/errors.ts';
import { LONG_EXTERNAL_ID } from '../../kernel/list-filter.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { longExternalIdText } from '../../kernel/text.ts';
import {
  createSubaccountInput,
  type OwnSubaccounts,
  requestPayoutBody,
  STATEMENT_ENTRY_KINDS,
  type StatementFilter,
  type StoredSubaccount,
  SUBACCOUNT_PAYOUT_STATUSES,
  type SubaccountFilter,
  type SubaccountPayoutFilter,
  transferInput,
} from './model.ts';
import { payoutReferenceText, subaccountIdText } from './names.ts';
import {
  requestedPayoutToWire,
  requestedPayoutWire,
  statementEntryWire,
  subaccountPayoutToWire,
  subaccountPayoutWire,
  subaccountWire,
  transferWire,
} from './wire.ts';

const TAG = 'Subaccounts';
const NO_SUBACCOUNT = 'Subaccount not found';

/** The parameters of the list and of the export. */
export const FILTER = {
  externalId: longExternalIdText
    .optional()
    .meta({ description: 'Selects the subaccount with this externalId' }),
  ...periodQuery('created', 'subaccounts that were opened'),
};

const one = z.object({ id: subaccountIdText });

/** Subaccounts in the REST interface (the document's 4.1 and 4.5). */
export function createSubaccountRoutes({ subaccounts }: { subaccounts: OwnSubaccounts }): RestOperation[] {
  /** Reads a subaccount. @throws NotFoundError if it does not exist, or is another account's or environment's */
  async function found(tenant: Tenant, id: string): Promise<StoredSubaccount> {
    const subaccount = await subaccounts.find(tenant, id);
    if (!subaccount) throw new NotFoundError(NO_SUBACCOUNT);
    return subaccount;
  }

  return [
    restOperation({
      method: 'POST',
      path: '/v1/subaccounts',
      operationId: 'createSubaccount',
      summary: 'Open a subaccount',
      description: 'The same externalId and name again give the same subaccount.',
      tag: TAG,
      section: '4.5',
      right: 'subaccounts.manage',
      body: createSubaccountInput,
      example: { name: 'Maria da Silva', externalId: 'cliente-1042' },
      answers: {
        200: { description: 'The same one, opened before', schema: subaccountWire },
        201: { description: 'The subaccount', schema: subaccountWire },
      },
      async handle({ caller, body }) {
        const { subaccount, replayed } = await subaccounts.create(caller.tenant, body);
        return { status: replayed ? 200 : 201, body: subaccount, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subaccounts',
      operationId: 'listSubaccounts',
      summary: 'List subaccounts, newest first',
      tag: TAG,
      section: '4.5',
      right: 'subaccounts.read',
      query: listQuery(FILTER),
      answers: { 200: { description: 'A page', schema: pageOf('subaccounts', subaccountWire) } },
      async handle({ caller, query }) {
        const page = readListQuery<SubaccountFilter>(query, LONG_EXTERNAL_ID);
        const { items, total } = await subaccounts.listPage(caller.tenant, page);
        return { status: 200, body: { subaccounts: items, total, ...query } };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subaccounts/{id}',
      operationId: 'getSubaccount',
      summary: 'Look a subaccount up',
      tag: TAG,
      section: '4.5',
      right: 'subaccounts.read',
      params: one,
      answers: { 200: { description: 'The subaccount', schema: subaccountWire } },
      errors: { 404: NO_SUBACCOUNT },
      async handle({ caller, params }) {
        return { status: 200, body: await found(caller.tenant, params.id) };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subaccounts/{id}/statement',
      operationId: 'getSubaccountStatement',
      summary: 'The statement of a subaccount, newest first',
      tag: TAG,
      section: '4.5',
      right: 'subaccounts.read',
      params: one,
      query: listQuery({
        kind: anyOf(STATEMENT_ENTRY_KINDS, 'entries'),
        ...periodQuery('created', 'entries made'),
        reference: textQuery('Selects entries with this refId'),
        ...centsQuery('entries, in or out,'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('entries', statementEntryWire) } },
      errors: { 404: NO_SUBACCOUNT },
      async handle({ caller, params, query }) {
        const { id } = await found(caller.tenant, params.id);
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => subaccounts.statementPage(caller.tenant, id, readListQuery<StatementFilter>(page)),
          made: (key) => subaccounts.findTransfer(caller.tenant, id, key),
        });
        return { status: 200, body: { entries: items, total, ...query } };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/subaccounts/{id}/transfers',
      operationId: 'transferToSubaccount',
      summary: 'Transfer to a subaccount from the main balance',
      description:
        'Up to what the wallet can withdraw. The same idempotencyKey and input give the same transfer.',
      tag: TAG,
      section: '4.5',
      right: 'subaccounts.manage',
      params: one,
      body: transferInput.omit({ subaccountId: true }),
      example: { amountCents: 25000, idempotencyKey: 'repasse-1042' },
      answers: { 201: { description: 'Its entry in the statement', schema: transferWire } },
      errors: { 404: NO_SUBACCOUNT, 409: 'The idempotency key was used with another input' },
      async handle({ caller, params, body }) {
        const input = { subaccountId: params.id, ...body };
        const { entry, replayed } = await subaccounts.transfer(caller.tenant, input);
        return { status: 201, body: entry, replayed };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/subaccounts/{id}/payout',
      operationId: 'requestSubaccountPayout',
      summary: 'Request a payout from a subaccount by PIX',
      description:
        'After a timeout with no response, look the payout up as saq_idem_<idempotencyKey>, or repeat the request with the same key: it is never sent twice.',
      tag: TAG,
      section: '4.5',
      right: 'subaccount_payouts.request',
      params: one,
      body: requestPayoutBody,
      example: { amountCents: 15000, pixKey: 'maria@example.com', idempotencyKey: 'saque-1042' },
      answers: {
        201: { description: 'Taken on; or refused before the bank (failed)', schema: requestedPayoutWire },
        202: { description: 'Under verification', schema: requestedPayoutWire },
      },
      errors: {
        403: 'The key lacks the permission, or is a test key: there are no subaccount payouts in sandbox',
        404: NO_SUBACCOUNT,
        409: 'The idempotency key was used with another input',
      },
      async handle({ caller, params, body }) {
        const requested = await subaccounts.requestPayout(caller.tenant, {
          subaccountId: params.id,
          ...body,
        });
        return {
          status: requested.underVerification ? 202 : 201,
          body: requestedPayoutToWire(requested),
          replayed: requested.replayed,
        };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subaccounts/{id}/payouts',
      operationId: 'listSubaccountPayouts',
      summary: 'List the payouts of a subaccount, newest first',
      tag: TAG,
      section: '4.5',
      right: 'subaccount_payouts.read',
      params: one,
      query: listQuery({
        status: anyOf(SUBACCOUNT_PAYOUT_STATUSES, 'payouts'),
        ...periodQuery('created', 'payouts that were requested'),
        ...periodQuery('completed', 'payouts that were completed'),
        ...periodQuery('reversed', 'payouts whose amount was back in the subaccount'),
        ...centsQuery('payouts'),
        externalId: textQuery('Selects payouts with this externalId'),
        reference: textQuery(
          'Selects the payout with this payoutId, withdrawalId, code or endToEndId, or with a code that it had before',
        ),
      }),
      answers: { 200: { description: 'A page', schema: pageOf('payouts', subaccountPayoutWire) } },
      errors: { 404: NO_SUBACCOUNT },
      async handle({ caller, params, query }) {
        const { id } = await found(caller.tenant, params.id);
        const page = readListQuery<SubaccountPayoutFilter>(query);
        const { items, total } = await subaccounts.payoutsPage(caller.tenant, id, page);
        return { status: 200, body: { payouts: items.map(subaccountPayoutToWire), total, ...query } };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/subaccounts/{id}/payouts/{payoutId}',
      operationId: 'getSubaccountPayout',
      summary: 'One payout of a subaccount in its current state',
      description:
        'payoutId: the withdrawal id, the TURBO- code, saq_idem_<idempotencyKey>, the saq_ refId of the statement, or the SUB- code.',
      tag: TAG,
      section: '4.1',
      right: 'subaccount_payouts.read',
      params: one.extend({ payoutId: payoutReferenceText }),
      answers: { 200: { description: 'The payout', schema: subaccountPayoutWire } },
      errors: { 404: `${NO_SUBACCOUNT}; or Payout not found` },
      async handle({ caller, params }) {
        const { id } = await found(caller.tenant, params.id);
        const payout = await subaccounts.findPayout(caller.tenant, id, params.payoutId);
        if (!payout) throw new NotFoundError('Payout not found');
        return { status: 200, body: subaccountPayoutToWire(payout) };
      },
    }),
  ];
}
