import { commonContradiction, otherPart } from '../../../kernel/contradictions.ts';
import { InsufficientFundsError, UpstreamError } from '../../../kernel/errors.ts';
import { kindOfPixKey, maskPixKey } from '../../../kernel/pix-key.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { disbelieve } from '../../../upstream/creations.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoints } from '../../../upstream/endpoint-availability.ts';
import {
  InDoubtError,
  isFound,
  type LookupResult,
  type RequestKind,
} from '../../../upstream/intents/operations.ts';
import type { Intent } from '../../../upstream/intents/transitions.ts';
import type { Observation } from '../../../upstream/mirror.ts';
import { isSuccess, saysNotFound } from '../../../upstream/responses.ts';
import type { RequestOptions } from '../../../upstream/upstream.ts';
import type { RequestPayoutInput, SubaccountPayout } from '../model.ts';
import type { UpstreamPayout } from '../upstream-payout.ts';
import { readRequestedPayout, readSubaccountPayout } from '../wire.ts';
import { MAY_WITHDRAW, type Sender, type Summary, summaryOf, toRefusal } from './commands.ts';
import {
  canBeReference,
  IDEM,
  inDoubtOf,
  isSameId,
  neverMadeOf,
  observationOf,
  reservedId,
} from './mirror.ts';

/** The requests for payouts of subaccounts to the service, and the lookups of those whose outcome is unknown. */
export interface PayoutRequests {
  /**
   * Requests a payout. `held`: it is under verification (the document's `202`), or may be. `doubt`: the
   * record of a payout whose outcome is unknown. @throws as `Intents.run`; InDoubtError only if nothing is
   * recorded
   */
  requestPayout(
    tenant: Tenant,
    input: RequestPayoutInput,
  ): Promise<{ id: string; held: boolean; doubt: SubaccountPayout | null; replayed: boolean }>;
  /** Whether the outcome of any payout is not known yet. */
  hasDoubts(tenant: Tenant): Promise<boolean>;
  /**
   * Lists the payouts whose outcome is not known yet: a caller that does not see them might request them
   * again.
   */
  inDoubt(tenant: Tenant): Promise<SubaccountPayout[]>;
  /**
   * Finds the subaccount of the request with a key; null if none was made.
   * @throws PreconditionError (RECORDS_BEHIND) if the records may lack it
   */
  subaccountOfKey(tenant: Tenant, key: string): Promise<string | null>;
  /** @throws PreconditionError (RECORDS_BEHIND) if a reference is the key of a request that the records may lack */
  assertNotMissing(tenant: Tenant, reference: string): Promise<void>;
  kinds: Readonly<Record<string, RequestKind>>;
}

const PAYOUT = 'requestSubaccountPayout';

const POST_PAYOUT = { name: 'POST /v1/subaccounts/{id}/payout', inWords: 'payouts of subaccounts' };
export const GET_PAYOUT = {
  name: 'GET /v1/subaccounts/{id}/payouts/{payoutId}',
  inWords: 'looking up a payout of a subaccount',
};

export function createPayoutRequests({
  clock,
  upstream,
  intents,
  endpoints,
  sender: { post, withInvalidation },
  findMirrored,
  readBalance,
  onFault,
}: UpstreamDependencies & {
  endpoints: Endpoints;
  sender: Sender;
  /** Finds the mirrored payout of a request; null if there is none. */
  findMirrored: (tenant: Tenant, intent: Intent) => Promise<SubaccountPayout | null>;
  /** Reads a subaccount's balance, whose figures a refusal contains; null if the service does not show it. */
  readBalance: (tenant: Tenant, subaccountId: string) => Promise<number | null>;
}): PayoutRequests {
  async function sendPayout(
    tenant: Tenant,
    {
      subaccountId,
      amountCents,
      pixKey,
      externalId = null,
      idempotencyKey,
    }: Omit<RequestPayoutInput, 'pixKeyType'>,
    { key }: Intent,
  ): Promise<{ made: Observation; held: boolean }> {
    const body = { amountCents, pixKey, idempotencyKey: key };
    const answer = await post(tenant, POST_PAYOUT, `/v1/subaccounts/${subaccountId}/payout`, body);
    if (!isSuccess(answer))
      throw await toRefusal(answer, {
        secret: pixKey,
        hasKey: idempotencyKey != null,
        permissions: MAY_WITHDRAW,
        async toShortfall(message, { isCertain }) {
          const balanceCents = await readBalance(tenant, subaccountId);
          if (balanceCents === null || (!isCertain && amountCents <= balanceCents)) return null;
          return new InsufficientFundsError(message, {
            requestedCents: amountCents,
            withdrawableCents: balanceCents,
            balanceCents,
            disputeBlockedCents: 0,
            subaccountsBalanceCents: null,
            cryptoBalanceLitoshi: null,
          });
        },
      });
    // The service has accepted the request, which no later fault changes.
    const at = clock.now();
    const requested = readRequestedPayout(answer.body);
    const contradiction =
      otherPart(['amount', requested?.amountCents ?? null, amountCents]) ??
      commonContradiction(answer.body, {});
    if (contradiction !== null)
      throw disbelieve(onFault, contradiction, { inWords: POST_PAYOUT.inWords, movesMoney: true });
    const names = [IDEM + key, requested?.withdrawalId, requested?.code].filter((name) => name != null);
    const requestOptions: RequestOptions = { priority: 'money', waitMs: 2_000 };
    const summary = { subaccountId, amountCents, externalId, destinationKind: kindOfPixKey(pixKey) };
    const found = await lookUpPayout(tenant, { ...summary, madeBy: IDEM + key }, names, requestOptions).catch(
      () => 'unclear' as const,
    );
    const held = answer.status === 202;
    if (isFound(found)) return { made: found.found, held };
    // The service could not be asked, but the answer says that the payout is under way. A `SUB-` code means
    // that it was refused, without a reason.
    if (found === 'not_there' || !requested || requested.code?.startsWith('SUB-'))
      throw new UpstreamError(
        'OUTCOME_UNKNOWN',
        'The payments service has accepted this, and does not show it',
        { moneyMayHaveMoved: true },
      );
    const shown = justRequested({ ...requested, ...summary, pixKey: maskPixKey(pixKey), at });
    return { made: observationOf(shown, { reference: IDEM + key, at, madeBy: IDEM + key }), held };
  }

  /** Looks a payout up by the first of these names that finds it. */
  async function lookUpPayout(
    { environment }: Tenant,
    {
      subaccountId,
      amountCents,
      externalId = null,
      destinationKind = null,
      madeBy,
    }: Summary & { madeBy: string },
    names: readonly string[],
    requestOptions: RequestOptions,
  ): Promise<LookupResult> {
    let isUnclear = false;
    for (const reference of names.filter(canBeReference)) {
      const at = clock.now();
      const path = payoutPath(subaccountId, reference);
      const answer = await endpoints.callIfSupported(environment, GET_PAYOUT, () =>
        upstream.get({ environment, path, requestOptions }),
      );
      const shown = answer && isSuccess(answer) ? readSubaccountPayout(answer.body) : null;
      // A payout with another amount belongs to another request with the same key, so this request was not
      // done.
      if (shown && isSameId(shown.subaccountId, subaccountId)) {
        if (shown.amountCents !== amountCents) continue;
        return {
          found: observationOf(
            { ...shown, externalId, destinationKind: destinationKind ?? shown.destinationKind },
            { reference, at, madeBy },
          ),
          provisional: isJustRequested(shown),
        };
      }
      isUnclear ||= !answer || !saysNotFound(answer);
    }
    return isUnclear ? 'unclear' : 'not_there';
  }

  return {
    async requestPayout(tenant, { idempotencyKey, externalId = null, pixKeyType = null, ...input }) {
      let isHeld = true;
      try {
        const { resourceId, replayed } = await withInvalidation(tenant, () =>
          intents.run(tenant, {
            name: PAYOUT,
            input,
            key: idempotencyKey ?? null,
            summary: (given) => ({
              ...summaryOf(given),
              pixKey: maskPixKey(given.pixKey),
              destinationKind: kindOfPixKey(given.pixKey),
              externalId,
              pixKeyType,
            }),
            kept: { externalId, pixKeyType },
            async send(intent) {
              const { made, held } = await sendPayout(
                tenant,
                { ...input, externalId, idempotencyKey },
                intent,
              );
              isHeld = held;
              return made;
            },
            inWords: POST_PAYOUT.inWords,
            lookupReference: ({ key }) => IDEM + key,
          }),
        );
        return { id: resourceId, held: isHeld, doubt: null, replayed };
      } catch (error) {
        if (!(error instanceof InDoubtError)) throw error;
        const { intent, replayed } = error;
        const doubt = await findMirrored(tenant, intent);
        // Nothing is recorded under the payout's id: a lookup by it would find no payout.
        if (!doubt) throw error;
        return { id: doubt.id, held: false, doubt, replayed };
      }
    },

    hasDoubts: async (tenant) => (await intents.open(tenant, PAYOUT)).length > 0,
    inDoubt: async (tenant) => (await intents.open(tenant, PAYOUT)).map(asPayout),

    async subaccountOfKey(tenant, key) {
      const intent = await intents.find(tenant, PAYOUT, key);
      return intent && (intent.summary as Summary).subaccountId;
    },

    async assertNotMissing(tenant, reference) {
      if (reference.startsWith(IDEM)) await intents.find(tenant, PAYOUT, reference.slice(IDEM.length));
    },

    kinds: {
      [PAYOUT]: {
        lookUp: (tenant, { key, summary }) =>
          lookUpPayout(tenant, { ...(summary as Summary), madeBy: IDEM + key }, [IDEM + key], {
            priority: 'query',
          }),
        movesMoney: true,
        idOf: (intent) => asPayout(intent).id,
        inDoubt: (intent, { again }) => inDoubtOf(asPayout(intent), clock.now(), again),
        absent: (intent, options) => neverMadeOf(asPayout(intent), clock.now(), options),
      },
    },
  };
}

/**
 * A payout of a request that was just accepted: `processing`, and without the names from the bank's answer.
 */
function justRequested({
  at,
  ...known
}: Pick<
  UpstreamPayout,
  'subaccountId' | 'amountCents' | 'withdrawalId' | 'code' | 'pixKey' | 'destinationKind' | 'externalId'
> & {
  at: Date;
}): UpstreamPayout {
  return {
    ...known,
    payoutId: null,
    status: 'processing',
    reversed: false,
    createdAt: at,
    feeCents: null,
    platformFeeCents: null,
    netAmountCents: null,
    endToEndId: null,
    recipientName: null,
    recipientBankName: null,
    failureReason: null,
    completedAt: null,
    reversedAt: null,
  };
}

/** The payout in doubt of an intent, which may have been sent: the money may have left. */
export function asPayout({ key, summary, createdAt }: Intent): SubaccountPayout {
  const { subaccountId, amountCents, pixKey = null, externalId = null } = summary as Summary;
  const { destinationKind = kindOfPixKey(pixKey ?? '') } = summary as Summary;
  const payoutId = IDEM + key;
  const names = { withdrawalId: null, code: null };
  return {
    ...justRequested({
      ...names,
      ...{ subaccountId, amountCents, pixKey, destinationKind, externalId },
      at: createdAt,
    }),
    payoutId,
    id: reservedId(subaccountId, payoutId)!,
    inDoubt: true,
    // Every recorded state of the payout has a higher version.
    version: 0,
  };
}

/** Whether the bank has not answered yet (the document's 2.2): the names from its answer are missing. */
function isJustRequested({ status, withdrawalId, code }: UpstreamPayout): boolean {
  return status === 'processing' && withdrawalId === null && code === null;
}

export function payoutPath(subaccountId: string, reference: string): `/v1/${string}` {
  return `/v1/subaccounts/${subaccountId}/payouts/${encodeURIComponent(reference)}`;
}
