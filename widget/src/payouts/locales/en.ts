import { arrive } from '../../import-again.ts';
import { list } from '../../list/locales/en.ts';
import type { Texts } from './texts.ts';

export const texts: Texts = {
  ...list,
  payouts: 'Payouts',
  PENDING: 'Pending',
  PROCESSING: 'Processing',
  COMPLETED: 'Completed',
  DENIED: 'Denied',
  RETURNED: 'Returned',
  UNKNOWN: 'Unknown',
  pendingHint: 'In the queue',
  processingHint: 'Not confirmed by the bank yet',
  deniedHint: 'The amount is back in the balance',
  status: 'Status',
  amount: 'Amount',
  destination: 'Destination',
  code: 'Code',
  requested: 'Requested (Brasília)',
  fee: 'fee {amount}',
  empty: 'No payouts yet.',
  emptyFiltered: 'No payouts match this filter.',
  countOne: '1 payout',
  count: '{total} payouts',
  countOf: '{loaded} of {total} payouts',
  sortedOf: 'Sorted among the {loaded} loaded, of {total}.',
  loadAll: 'Load more payouts',
  announceNew: 'New payout of {amount}: {status}.',
  announceChange: 'Payout of {amount}: {status}.',
  announceMany: 'New payouts: {added}. Changed: {changed}.',
  unauthorized: 'Your access to these payouts has ended. Sign in again to go on.',
  forbidden: 'This access does not show payouts.',
  rate_limited: 'Too many requests in a short time. The table goes on by itself in {seconds} s.',
  contact: 'These payouts could not be opened.',
  searchHint: 'Code (SAQ-…), number of the payout or identifier of the PIX (E2E)',
  externalId: 'Your number',
  requestedFrom: 'Requested from (Brasília)',
  requestedUntil: 'Requested until (Brasília)',
  method: 'Method',
};

arrive('payouts.en', { texts });
