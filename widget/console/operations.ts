// The console's own GraphQL documents and the types of their results; operations.check.ts checks both against schema.graphql.

export interface Tasks {
  requestsInDoubt: {
    nodes: { requestId: string; operation: string; amountCents: number | null; requestedAt: string }[];
    pageInfo: { hasNextPage: boolean };
  };
  disputes: {
    totalCount: number;
    nodes: { disputeId: string; amountCents: number; evidenceDueAt: string | null }[];
  };
  webhookDeliveries: { totalCount: number; nodes: { webhookId: string; event: string; createdAt: string }[] };
  refunds: {
    totalCount: number;
    nodes: { refundId: string; amountCents: number; failureReason: string | null; failedAt: string | null }[];
  };
}

/**
 * Reads what waits for a person. A root field that the token may not read is null. Of disputes it reads the oldest, whose
 * deadlines are the next ones.
 */
export const TASKS =
  'query ConsoleTasks($since:DateTime!){requestsInDoubt(first:20){nodes{requestId operation amountCents requestedAt}pageInfo{hasNextPage}}disputes(last:20,filter:{status:[OPEN]}){totalCount nodes{disputeId amountCents evidenceDueAt}}webhookDeliveries(first:20,filter:{status:[EXHAUSTED],createdAfter:$since}){totalCount nodes{webhookId event createdAt}}refunds(first:20,filter:{status:[FAILED],failedAfter:$since}){totalCount nodes{refundId amountCents failureReason failedAt}}}' as const;

export interface Report {
  opening: { balanceCents: number | null };
  closing: { balanceCents: number | null };
  lines: { kind: string; count: number; amountCents: number; serviceFeeCents: number | null }[];
  unexplainedCents: number;
}

/** The sums of a period by kind, between the balances at its ends. */
export const REPORT =
  'query ConsoleReport($startsAt:DateTime!,$endsAt:DateTime!){wallet{closing(startsAt:$startsAt,endsAt:$endsAt){opening{balanceCents}closing{balanceCents}lines{kind count amountCents serviceFeeCents}unexplainedCents}}}' as const;
