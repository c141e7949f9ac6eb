import { z } from 'zod';
import {
  anyOf,
  centsQuery,
  instantParameter,
  listQuery,
  periodQuery,
  readListQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { pageOf, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { type StatementService, WALLET_ENTRY_KINDS, type WalletEntryFilter } from './statement.ts';
import { closingToWire, closingWire, walletEntryToWire, walletEntryWire } from './statement-wire.ts';

/** The parameters of the list and of the export. */
export const FILTER = {
  kind: anyOf(WALLET_ENTRY_KINDS, 'entries'),
  ...periodQuery('created', 'entries made'),
  reference: textQuery(
    'Selects entries of the payment, refund, dispute, payout or transfer with this id or code',
  ),
  subaccountId: textQuery('Selects entries that moved money of this subaccount'),
  ...centsQuery('entries, in or out,'),
};

/** The statement in the REST interface: extensions of the document, which has no operation for it. */
export function createStatementRoutes({ statement }: { statement: StatementService }): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: '/v1/wallet/statement',
      operationId: 'getWalletStatement',
      summary: 'All movements of the account’s money, newest first',
      description: 'An extension of the document.',
      tag: 'Wallet',
      section: '4.3',
      right: 'statement.read',
      query: listQuery(FILTER),
      answers: { 200: { description: 'A page', schema: pageOf('entries', walletEntryWire) } },
      async handle({ caller, query }) {
        const { items, total } = await statement.listPage(
          caller.tenant,
          readListQuery<WalletEntryFilter>(query),
        );
        return { status: 200, body: { entries: items.map(walletEntryToWire), total, ...query } };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/wallet/closing',
      operationId: 'getWalletClosing',
      summary: 'The sums of a period by kind, between the wallets at its two ends',
      description: 'A period of at most 366 days; its end is not in it. An extension of the document.',
      tag: 'Wallet',
      section: '4.3',
      right: 'statement.read',
      query: z.object({
        startsAt: instantParameter('The start of the period'),
        endsAt: instantParameter('The end of the period, which is not in it'),
      }),
      answers: { 200: { description: 'The report', schema: closingWire } },
      async handle({ caller, query }) {
        return { status: 200, body: closingToWire(await statement.closing(caller.tenant, query)) };
      },
    }),
  ];
}
