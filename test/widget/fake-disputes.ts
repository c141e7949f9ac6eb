// The disputes of a fake account, which fake-payouts.ts serves.
import type {
  Dispute,
  DisputeEvidence,
  DisputeStatus,
  DisputeVariables,
  WholeDispute,
} from '../../widget/src/disputes/operations.ts';

/** The time of the fake server's clock, which stands still. */
export const NOW = Date.parse('2026-03-02T10:35:00.000Z');
const HOUR_MS = 3_600_000;
const DAYS_FOR_DEFENCE = 5;
const DECIDED: readonly DisputeStatus[] = ['WON', 'LOST', 'UNDER_REVIEW', 'FORGIVEN'];
const SOLD = ['Caneca', 'Curso de cerâmica', null, 'Assinatura anual com um nome muito comprido'];

/** A change of the fake disputes: of that with this number, 1 is the oldest, or a new one. */
export interface DisputeAct {
  number?: number;
  values?: Partial<WholeDispute>;
}

/** A dispute by its number; 1 is the oldest of `count`, and each is ten hours newer. */
export function disputeOf(number: number, count: number): WholeDispute {
  const createdMs = NOW - (count - number) * 10 * HOUR_MS - 20 * 60_000;
  const dueMs = createdMs + DAYS_FOR_DEFENCE * 24 * HOUR_MS;
  const isInTime = dueMs > NOW;
  const status = isInTime ? (number % 3 === 0 ? 'UNDER_REVIEW' : 'OPEN') : DECIDED[number % DECIDED.length]!;
  const isDecided = /WON|LOST|FORGIVEN/.test(status);
  const submissions: DisputeEvidence[] =
    status === 'OPEN'
      ? []
      : [
          {
            text: 'O pedido foi entregue.',
            documents: [{ url: 'https://loja.example/entrega.pdf', description: 'Entrega' }],
            fileIds: [`dsf_${number}`],
            submittedAt: new Date(createdMs + HOUR_MS).toISOString(),
          },
        ];
  const amountCents = 4_900 + ((number * 7_919) % 90_000);
  return {
    id: `dispute-${number}`,
    disputeId: `dsp_${number.toString(16).padStart(24, '0')}`,
    status,
    reason: (['FRAUD', 'OPERATIONAL_ERROR', 'UNKNOWN'] as const)[number % 3]!,
    amountCents,
    blockedCents: status === 'WON' || status === 'FORGIVEN' ? 0 : amountCents,
    evidenceDueAt: new Date(dueMs).toISOString(),
    evidenceDueInSeconds: Math.max(0, Math.ceil((dueMs - NOW) / 1_000)),
    evidence: submissions.map(({ submittedAt }) => ({ submittedAt })),
    submissions,
    files: submissions.map(() => ({ fileId: `dsf_${number}`, name: 'entrega.pdf', sha256: 'ab'.repeat(32) })),
    of:
      number % 5 === 0
        ? null
        : {
            method: number % 2 === 0 ? 'CARD' : 'PIX',
            reference: `ref-${number}`,
            description: SOLD[number % SOLD.length]!,
            orderId: number % 3 === 1 ? `PEDIDO-${number}` : null,
            customer: { name: 'Ana Souza' },
          },
    createdAt: new Date(createdMs).toISOString(),
    closedAt: isDecided ? new Date(createdMs + 7 * 24 * HOUR_MS).toISOString() : null,
    acceptedAt: null,
    isFinal: status === 'WON' || status === 'FORGIVEN',
    version: 1,
  };
}

/** Makes a change, and returns the update for the stream. */
export function changeDispute(disputes: WholeDispute[], { number, values }: DisputeAct): object {
  const index = number === undefined ? disputes.length : number - 1;
  const before = disputes[index];
  const dispute: WholeDispute = before
    ? { ...before, version: before.version + 1, ...values }
    : { ...disputeOf(index + 1, index + 1), ...values };
  disputes[index] = dispute;
  return { disputeBefore: before?.status ?? null, dispute: rowOf(dispute) };
}

/** The server's answer to a query for a page of disputes, newest first, or for some of them. */
export function answerDisputes(
  disputes: readonly WholeDispute[],
  { first, after, last, before, filter, id, ids }: DisputeVariables & { id?: string; ids?: string[] },
): object {
  const selected = (dispute: Dispute) =>
    (!filter?.status || filter.status.includes(dispute.status)) &&
    (!filter?.createdAfter || dispute.createdAt! >= filter.createdAfter) &&
    (!filter?.createdBefore || dispute.createdAt! < filter.createdBefore) &&
    (!filter?.amountCents || dispute.amountCents === filter.amountCents) &&
    (!filter?.reference || dispute.disputeId === filter.reference);
  const newestFirst = disputes.filter(selected).reverse();
  const placeOf = (cursor: string) => newestFirst.findIndex(({ id }) => id === cursor);
  const end = before ? placeOf(before) : newestFirst.length;
  const from = last ? Math.max(0, end - last) : after ? placeOf(after) + 1 : 0;
  const nodes = newestFirst.slice(from, last ? end : from + (first ?? 50)).map(rowOf);
  return {
    disputes: {
      totalCount: newestFirst.length,
      nodes,
      pageInfo: {
        hasNextPage: from + nodes.length < newestFirst.length,
        hasPreviousPage: from > 0,
        startCursor: nodes[0]?.id ?? null,
        endCursor: nodes.at(-1)?.id ?? null,
      },
    },
    ...(id?.startsWith('dispute') && { node: disputes.find((dispute) => dispute.id === id) ?? null }),
    ...(ids?.[0]?.startsWith('dispute') && {
      nodes: ids.map((each) => disputes.map(rowOf).find((row) => row.id === each) ?? null),
    }),
  };
}

/** The dispute as lists and updates have it. */
function rowOf({ submissions: _, ...row }: WholeDispute): Dispute {
  return row;
}
