import { commonContradiction, otherPart } from '../../../kernel/contradictions.ts';
import { InsufficientFundsError } from '../../../kernel/errors.ts';
import { readAmount, readPage, readRecords, readText } from '../../../kernel/lenient-json.ts';
import { describeBehind } from '../../../kernel/records.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { disbelieve } from '../../../upstream/creations.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoints } from '../../../upstream/endpoint-availability.ts';
import {
  type OutcomeLookup,
  type RequestKind,
  unknownOutcome,
} from '../../../upstream/intents/operations.ts';
import { type Intent, isOpen } from '../../../upstream/intents/transitions.ts';
import type { Observation } from '../../../upstream/mirror.ts';
import { isRequestOfBefore } from '../../../upstream/mirror-store.ts';
import { readPagesUntil } from '../../../upstream/read-until.ts';
import { earliestOf, recognise, windowOf } from '../../../upstream/recognise.ts';
import { isSuccess } from '../../../upstream/responses.ts';
import type { Wallet } from '../../wallet/model.ts';
import type { StatementEntry, TransferInput } from '../model.ts';
import { mayBeTransfer, readStatementEntry, readTransferReference } from '../wire.ts';
import { MAY_MANAGE, type Sender, type Summary, summaryOf, toRefusal } from './commands.ts';
import { isSameId } from './mirror.ts';

/** The requests for transfers to the service, and the lookups of those whose outcome is unknown. */
export interface TransferRequests {
  /** Transfers money. `entry`: the statement's entry, if the answer shows it. @throws as `Intents.run` */
  transfer(
    tenant: Tenant,
    input: TransferInput,
  ): Promise<{ refId: string; entry: StatementEntry | null; replayed: boolean }>;
  /**
   * Finds the transfer to a subaccount that the request with a key has made, as far as it is recorded here; null if there is
   * none.
   * @throws InDoubtError, PreconditionError (RECORDS_BEHIND)
   */
  findByKey(tenant: Tenant, subaccountId: string, key: string): Promise<StatementEntry | null>;
  kinds: Readonly<Record<string, RequestKind>>;
}

const TRANSFER = 'transferToSubaccount';

const POST_TRANSFER = { name: 'POST /v1/subaccounts/{id}/transfers', inWords: 'transfers to subaccounts' };
export const GET_STATEMENT = {
  name: 'GET /v1/subaccounts/{id}/statement',
  inWords: 'the statement of a subaccount',
};

/**
 * The id of an entry in the pages of a statement. A transfer and its fee may have one reference, and both a kind that the
 * document does not name.
 */
export function entryIdOf({ kind, refId, amountCents, createdAt }: StatementEntry): string {
  return `${kind} ${refId} ${amountCents} ${createdAt.getTime()}`;
}

/**
 * An entry, and whether it may belong to a transfer to the subaccount: an unknown kind may say that it does
 * not.
 */
type StatementLine = StatementEntry & { mayBeTransfer: boolean };

/** The time around a transfer in which the service enters it, by its clock or by ours. */
const WINDOW = windowOf({ beforeMs: 60_000, afterMs: 5 * 60_000 });

export function createTransferRequests({
  upstream,
  records,
  intents,
  endpoints,
  serviceClock,
  sender: { post, withInvalidation },
  readWallet,
  onFault,
}: UpstreamDependencies & {
  endpoints: Endpoints;
  sender: Sender;
  /** Reads the wallet, whose figures a refusal contains. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): TransferRequests {
  async function sendTransfer(
    tenant: Tenant,
    { subaccountId, amountCents, idempotencyKey }: TransferInput,
    { id, key }: Intent,
  ): Promise<{ made: Observation; entry: StatementEntry | null }> {
    const body = { amountCents, idempotencyKey: key };
    const answer = await post(tenant, POST_TRANSFER, `/v1/subaccounts/${subaccountId}/transfers`, body);
    if (isSuccess(answer)) {
      const contradiction = contradictionOfTransfer(answer.body, { subaccountId, amountCents });
      if (contradiction !== null)
        throw disbelieve(onFault, contradiction, { inWords: POST_TRANSFER.inWords, movesMoney: true });
      const refId = readTransferReference(answer.body);
      const entry = refId === null ? null : readStatementEntry(subaccountId, answer.body);
      return { made: madeOf(refId ?? id), entry };
    }
    throw await toRefusal(answer, {
      hasKey: idempotencyKey != null,
      permissions: MAY_MANAGE,
      async toShortfall(message, { isCertain }) {
        const { withdrawableCents, balanceCents, disputeBlockedCents, subaccountsBalanceCents } =
          await readWallet(tenant);
        if (withdrawableCents === null || (!isCertain && amountCents <= withdrawableCents)) return null;
        return new InsufficientFundsError(message, {
          requestedCents: amountCents,
          withdrawableCents,
          balanceCents,
          disputeBlockedCents,
          subaccountsBalanceCents,
          cryptoBalanceLitoshi: null,
        });
      },
    });
  }

  /**
   * Looks up a transfer in the statement, because the document has no lookup of transfers and an entry does
   * not show the key. The entry of the transfer is the only one with its amount and time that no other
   * transfer has made. If there are several, the outcome stays unknown.
   */
  const lookUpTransfer: OutcomeLookup = async (tenant, intent) => {
    // An entry shows no key, and a transfer with the same amount may be another's.
    if (intent.behindSince !== null)
      return { unclear: `It may have been made before: ${describeBehind(intent.behindSince)}` };
    const { subaccountId, amountCents } = intent.summary as Summary;
    const begunAt = () => serviceClock.of(intent.createdAt);
    const statement = await readStatement(tenant, subaccountId, () => earliestOf(begunAt(), WINDOW));
    if (!statement) return 'unclear';
    const candidates = statement.items.filter(
      (entry) => entry.mayBeTransfer && entry.amountCents === amountCents,
    );
    const refIds = [...new Set(candidates.map(({ refId }) => refId))];
    // Open transfers are read before claims, so a transfer that ends in between still counts as a rival.
    const open = await intents.open(tenant, TRANSFER);
    const claimed = await intents.claimed(tenant, TRANSFER, refIds);
    // A transfer that is done, but whose entry the service did not name, has its entry in the statement too.
    const isNear = ({ createdAt }: Intent) =>
      Math.abs(createdAt.getTime() - intent.createdAt.getTime()) <= WINDOW.marginMs;
    const unidentified = (await intents.unidentified(tenant, TRANSFER)).filter(isNear);
    const rivals = [...open, ...unidentified].filter(
      ({ id, summary }) => id !== intent.id && isSameTransfer(summary, intent.summary),
    );
    const isOfBefore = isRequestOfBefore(intent, await records.behind());
    // The service may have its own word for a transfer, which is read differently here. If the transfer were
    // repeated, the money would go twice.
    const isLookalike = ({ kind, amountCents: cents, createdAt }: StatementLine) => {
      const offsetMs = createdAt.getTime() - begunAt().getTime();
      const isInWindow = offsetMs >= -WINDOW.beforeMs && offsetMs <= WINDOW.afterMs;
      return kind === 'unknown' && Math.abs(cents) === amountCents && isInWindow;
    };
    const { kind, items } = recognise({
      items: candidates,
      begunAt: begunAt(),
      window: WINDOW,
      claimed,
      idOf: ({ refId }) => refId,
      dateOf: ({ createdAt }) => createdAt,
      hasRival: () => isOfBefore || rivals.length > 0,
      complete: statement.complete,
    });
    if (kind === 'none' && statement.items.some(isLookalike)) return 'unclear';
    if (kind !== 'one') return kind === 'none' ? 'not_there' : 'unclear';
    const [{ refId }] = items;
    return { found: madeOf(refId) };
  };

  /** Reads a statement back to `since`; null if it cannot be read. */
  function readStatement({ environment }: Tenant, subaccountId: string, since: () => Date) {
    return readPagesUntil<StatementLine>({
      async fetchPage(query) {
        const path = `/v1/subaccounts/${subaccountId}/statement?${query}` as const;
        const answer = await endpoints.callIfSupported(environment, GET_STATEMENT, () =>
          upstream.get({ environment, path, requestOptions: { priority: 'query' } }),
        );
        const page = answer && isSuccess(answer) ? readPage(answer.body, 'entries') : null;
        const items =
          page?.items.map((item) => {
            const entry = readStatementEntry(subaccountId, item);
            return entry && { ...entry, mayBeTransfer: mayBeTransfer(item) };
          }) ?? [];
        if (!page || items.includes(null)) return null;
        return { items: items as StatementLine[], length: items.length, total: page.total };
      },
      idOf: entryIdOf,
      dateOf: ({ createdAt }) => createdAt,
      since,
    });
  }

  return {
    async transfer(tenant, { idempotencyKey, ...input }) {
      let answeredEntry: StatementEntry | null = null;
      const { resourceId, replayed } = await withInvalidation(tenant, () =>
        intents.run(tenant, {
          name: TRANSFER,
          input,
          key: idempotencyKey ?? null,
          summary: summaryOf,
          async send(intent) {
            const { made, entry } = await sendTransfer(tenant, { ...input, idempotencyKey }, intent);
            answeredEntry = entry;
            return made;
          },
          inWords: POST_TRANSFER.inWords,
          lookupReference: () => null,
        }),
      );
      return { refId: resourceId, entry: answeredEntry, replayed };
    },

    async findByKey(tenant, subaccountId, key) {
      const intent = await intents.find(tenant, TRANSFER, key);
      const summary = intent?.summary as Summary | undefined;
      if (!intent || !summary || !isSameId(summary.subaccountId, subaccountId)) return null;
      if (isOpen(intent)) throw unknownOutcome({ lookupReference: () => null }, intent, true);
      if (intent.resourceId === null) return null;
      const { amountCents } = summary;
      const { resourceId: refId, createdAt } = intent;
      return { kind: 'transfer_in', subaccountId, refId, amountCents, balanceAfterCents: null, createdAt };
    },

    kinds: { [TRANSFER]: { lookUp: lookUpTransfer, movesMoney: true } },
  };
}

/** The reason why an answer does not belong to the transfer, as far as it shows it; null if it may. */
function contradictionOfTransfer(
  body: unknown,
  { subaccountId, amountCents }: Pick<TransferInput, 'subaccountId' | 'amountCents'>,
): string | null {
  const record = readRecords(body).find((each) => readAmount(each, 'amount') !== null);
  if (!record) return null;
  const named = readText(record.subaccountId);
  if (named !== null && !isSameId(named, subaccountId)) return 'another subaccount';
  return (
    otherPart(['amount', Math.abs(readAmount(record, 'amount')!), amountCents]) ??
    commonContradiction(body, {})
  );
}

function isSameTransfer(left: unknown, right: unknown): boolean {
  const [one, other] = [left as Summary, right as Summary];
  return isSameId(one.subaccountId, other.subaccountId) && one.amountCents === other.amountCents;
}

/** The observation of a resource that is not mirrored: it writes nothing, and only its id is recorded. */
export function madeOf(resourceId: string): Observation {
  return { resourceId, read: async () => undefined, decide: () => ({ resourceId, writes: {} }) };
}
