// The console's own GraphQL documents and the types of their results; operations.check.ts checks both against schema.graphql.
import { REFUNDED, RESOURCE, type Resource } from './links.ts';

export interface Tasks {
  requestsInDoubt: {
    nodes: { requestId: string; operation: string; amountCents: number | null; requestedAt: string }[];
    pageInfo: { hasNextPage: boolean };
  };
  disputes: {
    totalCount: number;
    nodes: { disputeId: string; amountCents: number; evidenceDueAt: string | null }[];
  };
  webhookDeliveries: {
    totalCount: number;
    nodes: { webhookId: string; event: string; createdAt: string; resource: Resource | null }[];
  };
  refunds: {
    totalCount: number;
    nodes: {
      refundId: string;
      amountCents: number;
      failureReason: string | null;
      failedAt: string | null;
      of: { reference?: string } | null;
    }[];
  };
  /** The payments by LTC that have ended unpaid, and what came for them. */
  payments: {
    nodes: {
      paymentId: string;
      amountCents: number;
      createdAt: string | null;
      ltc: { receivedLtc: string | null } | null;
    }[];
  };
  /** The LTC that the operator has credited to the account. */
  wallet: { statement: { nodes: { reference: string | null }[] } };
}

/**
 * Reads what waits for a person. A root field that the token may not read is null. Of disputes it reads the oldest, whose
 * deadlines are the next ones.
 */
export const TASKS =
  `query ConsoleTasks($since:DateTime!,$ltcSince:DateTime!){requestsInDoubt(first:20){nodes{requestId operation amountCents requestedAt}pageInfo{hasNextPage}}disputes(last:20,filter:{status:[OPEN]}){totalCount nodes{disputeId amountCents evidenceDueAt}}webhookDeliveries(first:20,filter:{status:[EXHAUSTED],createdAfter:$since}){totalCount nodes{webhookId event createdAt resource{${RESOURCE}...on Refund{${REFUNDED}}}}}refunds(first:20,filter:{status:[FAILED],failedAfter:$since}){totalCount nodes{refundId amountCents failureReason failedAt ${REFUNDED}}}payments(first:100,filter:{method:[LTC],status:[FAILED,EXPIRED],createdAfter:$ltcSince}){nodes{paymentId amountCents createdAt ltc{receivedLtc}}}wallet{statement(first:100,filter:{kind:[LTC_CREDIT],createdAfter:$ltcSince}){nodes{reference}}}}` as const;

export interface Offered {
  subscriptions: object;
  disputes: object;
  products: object;
  subaccounts: object;
}

/** Asks which lists another service has: the others are refused by their codes. */
export const OFFERED =
  'query ConsoleOffered{subscriptions(first:1){nodes{id}}disputes(first:1){nodes{id}}products(first:1){nodes{id}}subaccounts(first:1){nodes{id}}}' as const;

export interface Webhooks {
  webhookDeliveries: {
    nodes: {
      webhookId: string;
      event: string;
      status: string;
      createdAt: string;
      nextAttemptAt: string | null;
      url: string;
      attempts: {
        number: number;
        responseStatus: number | null;
        responseBody: string | null;
        responseBodyTruncated: boolean;
        error: string | null;
        durationMs: number;
      }[];
    }[];
  };
}

/** The newest webhooks that report a resource, with their attempts. */
export const WEBHOOKS =
  'query ConsoleWebhooks($reference:String!){webhookDeliveries(first:20,filter:{reference:$reference}){nodes{webhookId event status createdAt nextAttemptAt url attempts{number responseStatus responseBody responseBodyTruncated error durationMs}}}}' as const;

export interface SalesTotals {
  salesTotals: {
    isExact: boolean;
    count: number;
    amountCents: number;
    groups: { startsAt: string | null; count: number; amountCents: number }[];
  };
}

/** The sales that were paid in a period, by days or months of Brasília. */
export const SALES_BY_TIME =
  'query ConsoleSales($filter:SaleFilter!,$interval:HistoryInterval!){salesTotals(filter:$filter,interval:$interval){isExact count amountCents groups{startsAt count amountCents}}}' as const;

export interface Report {
  opening: { balanceCents: number | null };
  closing: { balanceCents: number | null };
  lines: { kind: string; count: number; amountCents: number; serviceFeeCents: number | null }[];
  unexplainedCents: number;
}

/** The sums of a period by kind, between the balances at its ends. */
export const REPORT =
  'query ConsoleReport($startsAt:DateTime!,$endsAt:DateTime!){wallet{closing(startsAt:$startsAt,endsAt:$endsAt){opening{balanceCents}closing{balanceCents}lines{kind count amountCents serviceFeeCents}unexplainedCents}}}' as const;
