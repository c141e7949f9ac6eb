import {
  InsufficientFundsError,
  NotFoundError,
  type PaymentError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readPage } from '../../kernel/lenient-json.ts';
import { maskPixKey } from '../../kernel/pix-key.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../upstream/endpoint-availability.ts';
import {
  InDoubtError,
  isFound,
  type LookupResult,
  type OutcomeLookup,
  type RequestKind,
} from '../../upstream/intents/operations.ts';
import type { Intent } from '../../upstream/intents/transitions.ts';
import type { Observation } from '../../upstream/mirror.ts';
import { readPagesUntil } from '../../upstream/read-until.ts';
import { earliestOf, recognise, windowOf } from '../../upstream/recognise.ts';
import {
  assertConclusive,
  invalidInput,
  isSuccess,
  keyUsed,
  messageOf,
  refusalOf,
  toUpstreamError,
  unreadable,
} from '../../upstream/responses.ts';
import { type RequestOptions, type UpstreamAnswer, UpstreamFault } from '../../upstream/upstream.ts';
import type { Wallet } from '../../wallet/model.ts';
import type {
  CreateSubaccountInput,
  RequestPayoutInput,
  StatementEntry,
  Subaccount,
  SubaccountPayout,
  TransferInput,
  UpstreamPayout,
} from '../model.ts';
import {
  readRequestedPayout,
  readStatementEntry,
  readSubaccount,
  readSubaccountPayout,
  readTransferReference,
} from '../wire.ts';
import {
  canBeReference,
  IDEM,
  inDoubtOf,
  isSame,
  neverMadeOf,
  observationOf,
  RESOURCE,
  reservedId,
} from './mirror.ts';

/** What is requested of the service for subaccounts, and what becomes of it where that is not known at once. */
export interface SubaccountRequests {
  /** @throws PaymentError */
  create(
    tenant: Tenant,
    input: CreateSubaccountInput,
  ): Promise<{ subaccount: Subaccount; replayed: boolean }>;
  /** `entry`: as the answer tells it. @throws as `Intents.run` */
  transfer(
    tenant: Tenant,
    input: TransferInput,
  ): Promise<{ refId: string; entry: StatementEntry | null; replayed: boolean }>;
  /**
   * `held`: it is under verification (the document's `202`), or nobody has said that it is not. `doubt`: its outcome is
   * unknown, and this is what is known. @throws as `Intents.run`, but InDoubtError
   */
  requestPayout(
    tenant: Tenant,
    input: RequestPayoutInput,
  ): Promise<{ id: string; held: boolean; doubt: SubaccountPayout | null; replayed: boolean }>;
  /** Some payout's outcome is not known yet. */
  hasDoubts(tenant: Tenant): Promise<boolean>;
  /**
   * Payouts whose outcome is not known yet, as far as it is known what they are: nobody may take them for none, and request
   * them again.
   */
  inDoubt(tenant: Tenant): Promise<SubaccountPayout[]>;
  kinds: Readonly<Record<string, RequestKind>>;
}

const PAYOUT = 'requestSubaccountPayout';
const TRANSFER = 'transferToSubaccount';
const MAY_MANAGE = ['subcontas.gerenciar'];
export const MAY_WITHDRAW = ['subcontas.gerenciar', 'subcontas.sacar'];

const POST = { name: 'POST /v1/subaccounts', inWords: 'creating subaccounts' };
const POST_PAYOUT = { name: 'POST /v1/subaccounts/{id}/payout', inWords: 'payouts of subaccounts' };
const POST_TRANSFER = { name: 'POST /v1/subaccounts/{id}/transfers', inWords: 'transfers to subaccounts' };
export const GET_PAYOUT = {
  name: 'GET /v1/subaccounts/{id}/payouts/{payoutId}',
  inWords: 'looking up a payout of a subaccount',
};
export const GET_STATEMENT = {
  name: 'GET /v1/subaccounts/{id}/statement',
  inWords: 'the statement of a subaccount',
};

/** The time around a transfer in which the service enters it, by its clock or by ours. */
const WINDOW = windowOf({ beforeMs: 60_000, afterMs: 5 * 60_000 });

/** What a request is recognised by. */
interface Summary {
  subaccountId: string;
  amountCents: number;
  /** Of a payout, where its PIX key is sent to, masked. */
  pixKey?: string | null;
}

export function createSubaccountRequests({
  clock,
  upstream,
  reads,
  intents,
  pollNow: nudge,
  endpoints,
  findShown,
  readBalance,
  readWallet,
}: UpstreamDependencies & {
  endpoints: Endpoints;
  /** The payout of a request as it is recorded; null where nothing of it is. */
  findShown: (tenant: Tenant, intent: Intent) => Promise<SubaccountPayout | null>;
  /** For the figures of a refusal; null where it is not told. */
  readBalance: (tenant: Tenant, subaccountId: string) => Promise<number | null>;
  /** For the same. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): SubaccountRequests {
  /** Nobody repeats it. @throws UpstreamFault, RateLimitError; UpstreamError where there is no such endpoint */
  function post(
    { environment }: Tenant,
    endpoint: Endpoint,
    path: `/v1/${string}`,
    body: unknown,
  ): Promise<UpstreamAnswer> {
    const requestOptions: RequestOptions = { priority: 'money' };
    return endpoints
      .ask(environment, endpoint, () =>
        upstream.send({ environment, method: 'POST', path, body, requestOptions }),
      )
      .finally(() => reads.forget(environment));
  }

  // ── Payouts ─────────────────────────────────────────────────────────────────────────────────────

  async function sendPayout(
    tenant: Tenant,
    { subaccountId, amountCents, pixKey }: Omit<RequestPayoutInput, 'idempotencyKey'>,
    { key }: Intent,
  ): Promise<{ made: Observation; held: boolean }> {
    const body = { amountCents, pixKey, idempotencyKey: key };
    const answer = await post(tenant, POST_PAYOUT, `/v1/subaccounts/${subaccountId}/payout`, body);
    assertConclusive(answer);
    if (!isSuccess(answer))
      throw await whyRefused(answer, {
        secret: pixKey,
        permissions: MAY_WITHDRAW,
        async shortOf(words) {
          const balanceCents = await readBalance(tenant, subaccountId);
          if (balanceCents === null || amountCents <= balanceCents) return null;
          return new InsufficientFundsError(words, {
            requestedCents: amountCents,
            withdrawableCents: balanceCents,
            balanceCents,
            disputeBlockedCents: 0,
            subaccountsBalanceCents: null,
            cryptoBalanceLitoshi: null,
          });
        },
      });
    // It is requested: whatever goes wrong from here on changes nothing of that.
    const at = clock.now();
    const requested = readRequestedPayout(answer.body);
    const names = [IDEM + key, requested?.withdrawalId, requested?.code].filter((name) => name != null);
    const requestOptions: RequestOptions = { priority: 'money', waitMs: 2_000 };
    const found = await lookUpPayout(tenant, { subaccountId, amountCents }, names, requestOptions).catch(
      () => 'unclear' as const,
    );
    const held = answer.status === 202;
    if (isFound(found)) return { made: found.found, held };
    // Nobody could be asked, but the answer says that it is under way. With `SUB-` it was refused, and why is not said.
    if (found === 'not_there' || !requested || requested.code?.startsWith('SUB-')) throw notShown();
    const seen = justRequested({ ...requested, subaccountId, amountCents, pixKey: maskPixKey(pixKey), at });
    return { made: observationOf(seen, { reference: IDEM + key, at }), held };
  }

  /** By the first of these names that leads to it. */
  async function lookUpPayout(
    { environment }: Tenant,
    { subaccountId, amountCents }: Summary,
    names: readonly string[],
    requestOptions: RequestOptions,
  ): Promise<LookupResult> {
    let unclear = false;
    for (const reference of names.filter(canBeReference)) {
      const at = clock.now();
      const path = payoutPath(subaccountId, reference);
      const answer = await endpoints.askIfThere(environment, GET_PAYOUT, () =>
        upstream.get({ environment, path, requestOptions }),
      );
      const seen = answer && isSuccess(answer) ? readSubaccountPayout(answer.body) : null;
      // Of another amount, it was made by another request under the same key; so this one was not done.
      if (seen && isSame(seen.subaccountId, subaccountId) && seen.amountCents !== amountCents) continue;
      if (seen && isSame(seen.subaccountId, subaccountId))
        return { found: observationOf(seen, { reference, at }), provisional: isJustRequested(seen) };
      unclear ||= answer?.status !== 404;
    }
    return unclear ? 'unclear' : 'not_there';
  }

  // ── Transfers ───────────────────────────────────────────────────────────────────────────────────

  async function sendTransfer(
    tenant: Tenant,
    { subaccountId, amountCents }: Omit<TransferInput, 'idempotencyKey'>,
    { id, key }: Intent,
  ): Promise<{ made: Observation; entry: StatementEntry | null }> {
    const body = { amountCents, idempotencyKey: key };
    const answer = await post(tenant, POST_TRANSFER, `/v1/subaccounts/${subaccountId}/transfers`, body);
    assertConclusive(answer);
    if (isSuccess(answer)) {
      const refId = readTransferReference(answer.body);
      const entry = refId === null ? null : readStatementEntry(subaccountId, answer.body);
      return { made: madeOf(refId ?? id), entry };
    }
    throw await whyRefused(answer, {
      permissions: MAY_MANAGE,
      async shortOf(words) {
        const { withdrawableCents, balanceCents, disputeBlockedCents, subaccountsBalanceCents } =
          await readWallet(tenant);
        if (withdrawableCents === null || amountCents <= withdrawableCents) return null;
        return new InsufficientFundsError(words, {
          requestedCents: amountCents,
          ...{ withdrawableCents, balanceCents, disputeBlockedCents, subaccountsBalanceCents },
          cryptoBalanceLitoshi: null,
        });
      },
    });
  }

  /**
   * The document shows no lookup of a transfer, and nothing in its entry that leads back to its key. So it is the one
   * entry of its amount and its time that no other transfer of ours has made; where there are several, nobody can tell.
   */
  const lookForTransfer: OutcomeLookup = async (tenant, intent) => {
    const { subaccountId, amountCents } = intent.summary as Summary;
    const begunAt = intent.createdAt;
    const statement = await readStatementSince(tenant, subaccountId, earliestOf(begunAt, WINDOW));
    if (!statement) return 'unclear';
    const alike = statement.items.filter(
      (entry) =>
        (entry.kind === 'transfer_in' || entry.kind === 'unknown') && entry.amountCents === amountCents,
    );
    const refIds = [...new Set(alike.map(({ refId }) => refId))];
    // Open transfers are read before claimed entries: one that ends in between is then a rival, and not overlooked.
    const open = await intents.open(tenant, TRANSFER);
    const claimed = await intents.claimed(tenant, TRANSFER, refIds);
    // The entry of a transfer that was done, and for which the service gave no name, is in the statement too.
    const isNear = ({ createdAt }: Intent) =>
      Math.abs(createdAt.getTime() - begunAt.getTime()) <= WINDOW.marginMs;
    const unidentified = (await intents.unidentified(tenant, TRANSFER)).filter(isNear);
    const rivals = [...open, ...unidentified].filter(
      ({ id, summary }) => id !== intent.id && isSameTransfer(summary, intent.summary),
    );
    const { kind, items } = recognise({
      ...{ items: alike, begunAt, window: WINDOW, claimed },
      idOf: ({ refId }) => refId,
      dateOf: ({ createdAt }) => createdAt,
      hasRival: () => rivals.length > 0,
      complete: statement.reachesBack,
    });
    if (kind !== 'one') return kind === 'none' ? 'not_there' : 'unclear';
    const [{ refId }] = items;
    return { found: madeOf(refId), claims: refId };
  };

  /** Null where they cannot be read. */
  function readStatementSince({ environment }: Tenant, subaccountId: string, from: Date) {
    return readPagesUntil<StatementEntry>({
      async fetchPage(query) {
        const path = `/v1/subaccounts/${subaccountId}/statement?${query}` as const;
        const answer = await endpoints.askIfThere(environment, GET_STATEMENT, () =>
          upstream.get({ environment, path, requestOptions: { priority: 'query' } }),
        );
        const page = answer && isSuccess(answer) ? readPage(answer.body) : null;
        const items = page?.items.map((item) => readStatementEntry(subaccountId, item)) ?? [];
        if (!page || items.includes(null)) return null;
        return { items: items as StatementEntry[], length: items.length, total: page.total };
      },
      // A fee may have the reference of what it was taken for, and both a kind that we have no word for.
      idOf: ({ kind, refId, amountCents, createdAt }) =>
        `${kind} ${refId} ${amountCents} ${createdAt.getTime()}`,
      dateOf: ({ createdAt }) => createdAt,
      since: from,
    });
  }

  /** After a write, or one that may have been one: whoever follows is told soon. */
  async function moving<Result>(tenant: Tenant, move: () => Promise<Result>): Promise<Result> {
    try {
      return await move();
    } finally {
      reads.forget(tenant.environment);
      nudge(tenant, RESOURCE);
      nudge(tenant, 'wallet');
    }
  }

  return {
    async create(tenant, input) {
      const answer = await post(tenant, POST, '/v1/subaccounts', input).catch((error: unknown) => {
        if (!(error instanceof UpstreamFault)) throw error;
        if (error.reached === 'no') throw toUpstreamError(error);
        // With a name of its own the same request again gives the same subaccount; without one, a second.
        throw new UpstreamError(error.message, {
          retryable: input.externalId != null,
          moneyMayHaveMoved: false,
        });
      });
      if (isSuccess(answer)) {
        const subaccount = readSubaccount(answer.body);
        if (!subaccount)
          throw new UpstreamError(unreadable().message, { retryable: false, moneyMayHaveMoved: false });
        return { subaccount, replayed: answer.status === 200 };
      }
      if (answer.status === 409)
        throw new ValidationError([{ path: 'input.externalId', message: 'is another subaccount’s already' }]);
      throw isOfInput(answer)
        ? invalid(messageOf(answer.body))
        : refusalOf(answer, { permissions: MAY_MANAGE });
    },

    async transfer(tenant, { idempotencyKey, ...input }) {
      let told: StatementEntry | null = null;
      const { resourceId, replayed } = await moving(tenant, () =>
        intents.run(tenant, {
          name: TRANSFER,
          input,
          key: idempotencyKey ?? null,
          summary: summaryOf,
          async send(intent) {
            const { made, entry } = await sendTransfer(tenant, input, intent);
            told = entry;
            return made;
          },
          lookupReference: () => null,
        }),
      );
      return { refId: resourceId, entry: told, replayed };
    },

    async requestPayout(tenant, { idempotencyKey, ...input }) {
      let isHeld = true;
      try {
        const { resourceId, replayed } = await moving(tenant, () =>
          intents.run(tenant, {
            name: PAYOUT,
            input,
            key: idempotencyKey ?? null,
            summary: (wanted) => ({ ...summaryOf(wanted), pixKey: maskPixKey(wanted.pixKey) }),
            async send(intent) {
              const { made, held } = await sendPayout(tenant, input, intent);
              isHeld = held;
              return made;
            },
            lookupReference: ({ key }) => IDEM + key,
          }),
        );
        return { id: resourceId, held: isHeld, doubt: null, replayed };
      } catch (error) {
        if (!(error instanceof InDoubtError)) throw error;
        const { intent, replayed } = error;
        const doubt = await findShown(tenant, intent);
        // Nothing is recorded under its id: a lookup there would say that there is no such payout.
        if (!doubt) throw error;
        return { id: doubt.id, held: false, doubt, replayed };
      }
    },

    hasDoubts: async (tenant) => (await intents.open(tenant, PAYOUT)).length > 0,
    inDoubt: async (tenant) => (await intents.open(tenant, PAYOUT)).map(asPayout),

    kinds: {
      [PAYOUT]: {
        lookUp: (tenant, { key, summary }) =>
          lookUpPayout(tenant, summary as Summary, [IDEM + key], { priority: 'query' }),
        idOf: (intent) => asPayout(intent).id,
        inDoubt: (intent, { again }) => inDoubtOf(asPayout(intent), clock.now(), again),
        absent: (intent, options) => neverMadeOf(asPayout(intent), clock.now(), options),
      },
      [TRANSFER]: { lookUp: lookForTransfer },
    },
  };
}

/** All that is known of a payout when its request was accepted. */
function justRequested({
  at,
  ...known
}: Pick<UpstreamPayout, 'subaccountId' | 'amountCents' | 'withdrawalId' | 'code' | 'pixKey'> & {
  at: Date;
}): UpstreamPayout {
  return {
    ...known,
    ...{ payoutId: null, status: 'processing', reversed: false, createdAt: at },
    ...{ feeCents: null, platformFeeCents: null, netAmountCents: null, endToEndId: null },
    ...{ recipientName: null, recipientBankName: null, failureReason: null },
    ...{ completedAt: null, reversedAt: null },
  };
}

/** What is known of one that was sent, or may have been: the money may have left. */
export function asPayout({ key, summary, createdAt }: Intent): SubaccountPayout {
  const { subaccountId, amountCents, pixKey = null } = summary as Summary;
  const payoutId = IDEM + key;
  const names = { withdrawalId: null, code: null };
  return {
    ...justRequested({ ...names, subaccountId, amountCents, pixKey, at: createdAt }),
    payoutId,
    id: reservedId(subaccountId, payoutId)!,
    inDoubt: true,
    // Whatever is recorded of it is newer.
    version: 0,
  };
}

/** The bank has not answered yet (the document's 2.2): it has none of the names that it is answered with. */
function isJustRequested({ status, withdrawalId, code }: UpstreamPayout): boolean {
  return status === 'processing' && withdrawalId === null && code === null;
}

export function payoutPath(subaccountId: string, reference: string): `/v1/${string}` {
  return `/v1/subaccounts/${subaccountId}/payouts/${encodeURIComponent(reference)}`;
}

function summaryOf({ subaccountId, amountCents }: Summary): Summary {
  return { subaccountId, amountCents };
}

function isSameTransfer(left: unknown, right: unknown): boolean {
  const [one, other] = [left as Summary, right as Summary];
  return isSame(one.subaccountId, other.subaccountId) && one.amountCents === other.amountCents;
}

/** What is not mirrored: that it was made is all that is kept of it. */
export function madeOf(resourceId: string): Observation {
  return { read: async () => undefined, decide: () => ({ resourceId, writes: {} }) };
}

// ── Refusals ────────────────────────────────────────────────────────────────────────────────────

/** Why a payout or a transfer was certainly refused. */
async function whyRefused(
  answer: UpstreamAnswer,
  {
    secret = '',
    permissions,
    shortOf,
  }: {
    secret?: string;
    permissions: readonly string[];
    /** With the service's words, where the money does not suffice. */
    shortOf: (words: string) => Promise<PaymentError | null>;
  },
): Promise<PaymentError> {
  const said = messageOf(answer.body, { secret });
  if (answer.status === 404) return new NotFoundError('Subaccount not found');
  if (answer.status === 409) return keyUsed(said);
  if (isOfInput(answer))
    return (await shortOf(said ?? 'The payments service refuses this').catch(() => null)) ?? invalid(said);
  return refusalOf(answer, { permissions, secret });
}

function isOfInput({ status }: UpstreamAnswer): boolean {
  return status === 400 || status === 422;
}

const FIELDS = ['name', 'externalId', 'subaccountId', 'amountCents', 'pixKey', 'idempotencyKey'];

function invalid(words: string | null): ValidationError {
  return invalidInput(words, { fields: FIELDS });
}

/** It was accepted, and is not to be seen. */
function notShown(): UpstreamError {
  return new UpstreamError('The payments service has accepted this, and does not show it', {
    retryable: false,
    moneyMayHaveMoved: true,
  });
}
