import { addressOfOne } from './place.ts';

/** A resource in an answer of the server, as far as its page needs it. */
export interface Resource {
  __typename?: string;
  /** The orderCode, paymentId or chargeId of a sale. */
  reference?: string;
  disputeId?: string;
  withdrawalId?: string | null;
  /** The sale of a refund. */
  of?: { reference?: string } | null;
}

const SALE =
  '...on CardPayment{reference:orderCode}...on Payment{reference:paymentId}...on Charge{reference:chargeId}';
/** The fields of any resource. */
export const RESOURCE = `${SALE}...on Dispute{disputeId}...on Payout{withdrawalId}` as const;
/** The fields of the sale of a refund. */
export const REFUNDED = `of{${SALE}}` as const;

/** The address of the page of a resource; null if it has none. */
export function addressOfResource(resource: Resource | null): string | null {
  const { reference = resource?.of?.reference, disputeId, withdrawalId } = resource ?? {};
  if (reference) return addressOfOne('sales', reference);
  if (disputeId) return addressOfOne('disputes', disputeId);
  return withdrawalId ? addressOfOne('payouts', withdrawalId) : null;
}

/** Lets the link in the details of a list lead to the page of the row that was selected; without an id it has none. */
export function linkToOne(list: EventTarget | null, page: string, id: string | null): void {
  const link = (list as Element).querySelector<HTMLAnchorElement>('a[slot=details]');
  if (!link) return;
  link.hidden = !id;
  if (id) link.href = addressOfOne(page, id);
}
