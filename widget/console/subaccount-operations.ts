// The documents of the page of subaccounts; operations.check.ts checks them and their types against schema.graphql.
import type { Connection } from './paged-list.ts';

export interface Subaccount {
  subaccountId: string;
  name: string | null;
  externalId: string | null;
  balanceCents: number | null;
  createdAt: string | null;
}

export interface SubaccountFilter {
  externalId?: string;
  createdAfter?: string;
  createdBefore?: string;
}

export interface Subaccounts {
  subaccounts: Connection<Subaccount>;
}

export const SUBACCOUNTS =
  'query ConsoleSubaccounts($after:String,$filter:SubaccountFilter){subaccounts(first:20,after:$after,filter:$filter){totalCount nodes{subaccountId name externalId balanceCents createdAt}pageInfo{hasNextPage endCursor}}}' as const;

export interface OneSubaccount {
  subaccount: Subaccount;
}

export const SUBACCOUNT =
  'query ConsoleSubaccount($id:String!){subaccount(subaccountId:$id){subaccountId name externalId balanceCents createdAt}}' as const;

export interface Entry {
  kind: 'TRANSFER_IN' | 'PAYOUT' | 'PAYOUT_REVERSAL' | 'SPLIT_IN' | 'SPLIT_REVERSAL' | 'UNKNOWN';
  refId: string;
  amountCents: number;
  balanceAfterCents: number | null;
  createdAt: string;
}

export interface Statement {
  subaccount: { statement: Connection<Entry> };
}

export const STATEMENT =
  'query ConsoleSubaccountStatement($id:String!,$after:String){subaccount(subaccountId:$id){statement(first:20,after:$after){totalCount nodes{kind refId amountCents balanceAfterCents createdAt}pageInfo{hasNextPage endCursor}}}}' as const;

export interface Payout {
  payoutId: string | null;
  code: string | null;
  status: 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'UNKNOWN';
  reversed: boolean;
  inDoubt: boolean;
  amountCents: number;
  netAmountCents: number | null;
  pixKey: string | null;
  recipientName: string | null;
  failureReason: string | null;
  createdAt: string;
}

export interface Payouts {
  subaccount: { payouts: Connection<Payout> };
}

export const PAYOUTS =
  'query ConsoleSubaccountPayouts($id:String!,$after:String){subaccount(subaccountId:$id){payouts(first:20,after:$after){totalCount nodes{payoutId code status reversed inDoubt amountCents netAmountCents pixKey recipientName failureReason createdAt}pageInfo{hasNextPage endCursor}}}}' as const;
