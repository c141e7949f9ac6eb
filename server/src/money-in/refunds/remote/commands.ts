import {
  behindChange,
  InsufficientFundsError,
  NotFoundError,
  type PaymentError,
  PreconditionError,
} from '../../../kernel/errors.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Wallet } from '../../../money-out/wallet/model.ts';
import { loadRecords } from '../../../state/commit/commit.ts';
import { requestOptionsFor, type UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../../upstream/endpoint-availability.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { FamilyLookups } from '../../../upstream/family-lookups.ts';
import type { FamilyMirror } from '../../../upstream/family-mirror.ts';
import { InDoubtError, type LookupResult, type RequestKind } from '../../../upstream/intents/operations.ts';
import { intents as intentRecords } from '../../../upstream/intents/store.ts';
import { type Intent, intentKey, isOpen } from '../../../upstream/intents/transitions.ts';
import { createKeyedRequests } from '../../../upstream/keyed-requests.ts';
import { selectMirrored } from '../../../upstream/mirror-store.ts';
import {
  errorCodeOf,
  invalidInput,
  isInconclusive,
  isKeyConflict,
  isRetryable,
  isSuccess,
  keyUsed,
  messageOf,
  namedRefusal,
  refusalOf,
  saysNotFound,
  unreadable,
} from '../../../upstream/responses.ts';
import type { RequestOptions, UpstreamAnswer } from '../../../upstream/upstream.ts';
import { isAnyOrderCode } from '../../card-payments/model.ts';
import {
  type Refund,
  type RefundedResource,
  type RefundedType,
  type RefundService,
  referenceOfKey,
  refundFromJson,
  refundInput,
} from '../model.ts';
import { contradictionOf, toWanted, type UpstreamRefund, type WantedRefund } from '../upstream-refund.ts';
import { refundFromWire } from '../wire.ts';
import { observationOf } from './mirror.ts';

const REFUND = 'refund';

/** The paths of refundable resources, and the name of each in an error. */
const PATHS = {
  card_payment: 'card-payments',
  payment: 'payments',
  charge: 'charges',
} as const satisfies Record<RefundedType, string>;
const FIELDS = Object.keys(refundInput.shape);
const TITLES = { card_payment: 'Payment', payment: 'Payment', charge: 'Charge' } as const;

/** The amounts in the snapshot of a payment, a card payment or a charge. */
interface Refundable {
  amountCents?: number | null;
  refundedCents?: number | null;
  refundingCents?: number | null;
}

/** Requests for refunds to the service. */
export interface RefundRequests {
  request: RefundService['request'];
  /**
   * Finds the refund that a key has requested; null if the service has none.
   * @throws InDoubtError if it may still get one; RateLimitError, UpstreamFault, PaymentError
   */
  findByKey(tenant: Tenant, key: string, requester: Requester): Promise<Refund | null>;
  kinds: Readonly<Record<string, RequestKind>>;
}

export function createRefundRequests({
  endpoint,
  endpoints,
  mirror,
  lookups,
  readWallet,
  ...facade
}: UpstreamDependencies & {
  /** The lookup of a refund. */
  endpoint: Endpoint;
  endpoints: Endpoints;
  mirror: FamilyMirror<UpstreamRefund>;
  lookups: Pick<FamilyLookups<Refund>, 'findMany'>;
  /** Reads the wallet, whose figures a refusal contains. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): RefundRequests {
  const { clock, upstream, pollNow } = facade;

  const requests = createKeyedRequests<WantedRefund, UpstreamRefund>(facade, {
    kind: REFUND,
    inWords: 'refunding',
    pathOf: ({ resource: { type, id } }) => `/v1/${PATHS[type]}/${encodeURIComponent(id)}/refunds`,
    read: refundFromWire,
    contradictionOf,
    observationOf: (claim, { reason }, at, made) =>
      observationOf({ ...claim, reason: claim.reason ?? reason }, at, made),
    refusalOf: refusalOfRefund,
    money: { lookUp, lookupReference: ({ key }) => referenceOfKey(key) },
  });

  /**
   * Looks up the refund of a key at the service; the claim is null if it says that it has none.
   * @throws RateLimitError, UpstreamFault, PaymentError
   */
  async function ask({ environment }: Tenant, key: string, requestOptions: RequestOptions) {
    const at = clock.now();
    const path = `/v1/refunds/${encodeURIComponent(referenceOfKey(key))}` as const;
    const answer = await endpoints.ask(environment, endpoint, () =>
      upstream.get({ environment, path, requestOptions }),
    );
    if (saysNotFound(answer)) return { claim: null, at };
    if (answer.status !== 404 && !isSuccess(answer)) throw refusalOf(answer);
    const claim = isSuccess(answer) ? refundFromWire(answer.body) : null;
    // The answer is neither a refund nor a denial, so the request may have been done.
    if (!claim) throw unreadable(String(answer.status));
    return { claim, at };
  }

  async function lookUp(tenant: Tenant, intent: Intent): Promise<LookupResult> {
    const priority = intent.lookups === 0 ? 'money' : 'query';
    const wanted = intent.summary as WantedRefund;
    let shown: Awaited<ReturnType<typeof ask>>;
    try {
      shown = await ask(tenant, intent.key, { priority });
    } catch (error) {
      if (isInconclusive(error) && !isRetryable(error))
        return { unclear: 'The payments service does not show this refund' };
      throw error;
    }
    if (!shown.claim) return 'not_there';
    const contradiction = contradictionOf(shown.claim, wanted);
    if (contradiction !== null) return { unclear: `The refund of this key has ${contradiction}` };
    return { found: observationOf(shown.claim, shown.at) };
  }

  /** The refusal of a refund that was certainly not made. Its words may change. */
  async function refusalOfRefund(
    answer: UpstreamAnswer,
    { resource, amountCents }: WantedRefund,
    tenant: Tenant,
  ): Promise<PaymentError> {
    const message = messageOf(answer.body);
    const code = errorCodeOf(answer);
    if (answer.status === 404) return new NotFoundError(`${TITLES[resource.type]} not found`);
    if (answer.status === 400 || answer.status === 422) {
      const refusal = invalidInput(message, { fields: FIELDS });
      const isAboutField = refusal.fields.some(({ path }) => path !== 'input');
      if (code === undefined ? isAboutField : code !== 'INSUFFICIENT_FUNDS') return refusal;
      const isCertain = code !== undefined;
      const requestedCents =
        amountCents ?? (await refundableOf(tenant, resource, { isCertain }).catch(() => null));
      return (await toShortfall(tenant, requestedCents, { message, isCertain })) ?? refusal;
    }
    if (answer.status !== 409) return refusalOf(answer);
    if (isKeyConflict(answer)) return keyUsed(message);
    return (
      namedRefusal(answer) ??
      new PreconditionError(
        /disput/i.test(message ?? '') ? 'DISPUTE_STATE' : 'NOT_REFUNDABLE',
        message ?? 'The payments service does not refund this',
      )
    );
  }

  /**
   * The amount that is still refundable, as the mirror shows it; null if it does not. Unless money is
   * certainly missing, the reason may also be a payment that is not paid, or whose refunds are unknown.
   */
  async function refundableOf(
    tenant: Tenant,
    { type, id }: RefundedResource,
    { isCertain }: { isCertain: boolean },
  ): Promise<number | null> {
    const [known] = await selectMirrored(facade.database.sql, tenant, type, [id]);
    if (!known) return null;
    const { amountCents, refundedCents, refundingCents } = known.snapshot as Refundable;
    if (!isCertain && (known.status !== 'paid' || refundedCents == null)) return null;
    return amountCents == null ? null : amountCents - (refundedCents ?? 0) - (refundingCents ?? 0);
  }

  /** The refusal of more than can be withdrawn; null if neither the service nor the wallet says that. */
  async function toShortfall(
    tenant: Tenant,
    requestedCents: number | null,
    { message, isCertain }: { message: string | null; isCertain: boolean },
  ): Promise<InsufficientFundsError | null> {
    const wallet = requestedCents === null ? null : await readWallet(tenant).catch(() => null);
    const withdrawableCents = wallet?.withdrawableCents ?? null;
    if (!wallet || withdrawableCents === null || requestedCents === null) return null;
    if (!isCertain && requestedCents <= withdrawableCents) return null;
    return new InsufficientFundsError(message ?? 'The payments service refuses this', {
      requestedCents,
      withdrawableCents,
      balanceCents: wallet.balanceCents,
      disputeBlockedCents: wallet.disputeBlockedCents,
      subaccountsBalanceCents: wallet.subaccountsBalanceCents,
      cryptoBalanceLitoshi: null,
    });
  }

  return {
    async request(tenant, resource, { idempotencyKey, ...input }) {
      assertTaken(facade, 'refunds', 'Refunding');
      // A text such as `..` would be sent to another path.
      if (resource.type === 'card_payment' && !isAnyOrderCode(resource.id))
        throw new NotFoundError(`${TITLES.card_payment} not found`);
      const wanted = toWanted(resource, input);
      const { amountCents, reason } = wanted;
      const { resourceId, replayed } = await requests
        .run(tenant, { key: idempotencyKey ?? null, input: wanted, wanted, body: { amountCents, reason } })
        .finally(() => {
          for (const changed of ['refund', resource.type, 'wallet'] as const) pollNow(tenant, changed);
        });
      const known = await mirror.find(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      if (!known) throw new Error(`refund ${resourceId} was made and is not known`);
      return { refund: refundFromJson(known.snapshot), replayed };
    },

    async findByKey(tenant, key, requester) {
      const [made] = await loadRecords(intentRecords, facade.database.sql, tenant, [intentKey(REFUND, key)]);
      const known = made?.resourceId ? await mirror.find(tenant, made.resourceId) : null;
      if (known) return (await lookups.findMany(tenant, [known.id], requester))[0] ?? null;
      const shown = await ask(tenant, key, requestOptionsFor(requester));
      requester.onRead(shown.at, false);
      if (!shown.claim) {
        // The service may still process a request that it does not show yet.
        const requested = await facade.intents.find(tenant, REFUND, key);
        if (requested && isOpen(requested)) throw new InDoubtError(requested, referenceOfKey(key), true);
        const answered = requested?.resourceId ? await mirror.find(tenant, requested.resourceId) : null;
        return answered && refundFromJson(answered.snapshot);
      }
      const before = await mirror.find(tenant, shown.claim.refundId);
      const recorded = await mirror.record(tenant, before, shown.claim, shown.at);
      // The service has a refund, and shows too little of it.
      if (!recorded) throw unreadable();
      return refundFromJson(recorded.snapshot);
    },

    kinds: requests.kinds,
  };
}
