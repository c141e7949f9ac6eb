import { readPage } from '../../../kernel/lenient-json.ts';
import { type Checks, list, ONE_ITEM, one, ZEROS } from '../../../upstream/checks.ts';
import { readStatementEntry, readSubaccount, readSubaccountPayout } from '../wire.ts';

const ofFamily = { family: 'GET /v1/subaccounts', nobody: `sacc_${ZEROS}` };

/** Reads a page of subaccounts or of their statement. */
const pageOf = (name: string, read: (item: unknown) => object | null) => (body: unknown) => {
  const page = readPage(body, name);
  return page && { items: page.items.map(read), total: page.total };
};

export const subaccountChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/subaccounts',
      pathOf: () => `/v1/subaccounts?${ONE_ITEM}`,
      read: list(pageOf('subaccounts', readSubaccount), 'subaccounts', 'id', ['name', 'balanceCents']),
    },
    {
      ...ofFamily,
      name: 'GET /v1/subaccounts/{id}',
      pathOf: (id) => `/v1/subaccounts/${id}`,
      read: one(readSubaccount, 'id', ['name', 'balanceCents']),
    },
    {
      ...ofFamily,
      name: 'GET /v1/subaccounts/{id}/statement',
      pathOf: (id) => `/v1/subaccounts/${id}/statement?${ONE_ITEM}`,
      read: (body, _, id) =>
        list(
          pageOf('entries', (item) => readStatementEntry(id, item)),
          'entries',
          'id',
          [],
        )(body),
    },
    {
      ...ofFamily,
      name: 'GET /v1/subaccounts/{id}/payouts/{payoutId}',
      pathOf: (id) => `/v1/subaccounts/${id}/payouts/psa-check`,
      read: one(readSubaccountPayout, 'id', ['status', 'amountCents']),
    },
  ],
  writes: [
    { name: 'POST /v1/subaccounts' },
    { name: 'POST /v1/subaccounts/{id}/payout' },
    { name: 'POST /v1/subaccounts/{id}/transfers' },
  ],
  features: [
    { feature: 'the list of subaccounts', needs: ['GET /v1/subaccounts'] },
    { feature: 'one subaccount', needs: ['GET /v1/subaccounts/{id}'] },
    { feature: 'statements and transfers of subaccounts', needs: ['GET /v1/subaccounts/{id}/statement'] },
    { feature: 'payouts of subaccounts', needs: ['GET /v1/subaccounts/{id}/payouts/{payoutId}'] },
  ],
};
