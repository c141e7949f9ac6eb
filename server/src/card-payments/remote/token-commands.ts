import {
  assertOrderOpen,
  assertTokenFree,
  CHECKOUT_SESSION_MS,
  type CheckoutGrant,
  checkoutAmount,
  grantOfOpen,
  isOpen,
  joins,
  type StartCheckoutInput,
  tokenUsed,
} from '../../checkout/model.ts';
import type { Committer, Reader, State } from '../../commit/commit.ts';
import { idempotency, idempotencyKeyOf, remember, replayed } from '../../commit/idempotency.ts';
import { plusMs } from '../../kernel/clock.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import type { Requester } from '../../kernel/requester.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { orderStatusIn, readOrder } from '../../upstream/closed-orders.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import type { Operation } from '../../upstream/intents/operations.ts';
import { lastIntents } from '../../upstream/intents/store.ts';
import type { Intent } from '../../upstream/intents/transitions.ts';
import { mirrored } from '../../upstream/mirror.ts';
import type { RequestOptions } from '../../upstream/upstream.ts';
import type { CardPayment } from '../model.ts';
import { paymentOf } from './mirror.ts';

/** The time after which every request under way has its response. */
const SENDING_MS = 60_000;

export interface LookedUpBy {
  requestOptions: RequestOptions;
  requester: Requester;
}

/** The payments that single-use tokens have started, by the name of their operation, as this server has recorded them. */
export function createTokenUse({
  sql,
  committer,
  refresh,
}: {
  sql: UpstreamDependencies['database']['sql'];
  committer: Committer;
  /** Looks a payment up at the service before its state decides. */
  refresh: (tenant: Tenant, orderCode: string, by: LookedUpBy) => Promise<void>;
}) {
  return {
    /**
     * Finds the open payment of a token for a further start, as from a second device, and remembers that the attempt id
     * has this payment. Null where the start has to make one, or is refused when it does.
     * @throws ValidationError, IdempotencyError, UnavailableError (the order is paid), what `refresh` throws
     */
    async join(
      tenant: Tenant,
      {
        name,
        grant,
        attemptId,
        input,
        by,
      }: {
        name: string;
        grant: CheckoutGrant;
        attemptId: string;
        input: Omit<StartCheckoutInput, 'attemptId'>;
        by: LookedUpBy;
      },
    ): Promise<CardPayment | null> {
      const inputHash = hashInput(input);
      const key = idempotencyKeyOf(name, attemptId);
      const [[joined], [last]] = await Promise.all([
        idempotency.load(sql, tenant, [key]),
        lastIntents.load(sql, tenant, [name]),
      ]);
      const orderCode = joined?.resourceId ?? last?.intent.resourceId;
      if (!orderCode) return null;
      await refresh(tenant, orderCode, by);
      return committer.change<CardPayment | null>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader
              .load(idempotency, key)
              .then((before) => before && reader.load(mirrored.card_payment, before.resourceId)),
            readUse(reader, name, grant.externalId ?? null),
          ]),
        decide(state) {
          const before = replayed(state, name, attemptId, inputHash);
          if (before !== null) return { outcome: paymentOf(state.need(mirrored.card_payment, before)) };
          const open = lastPayment(state, name);
          if (!open || !isOpen(open)) return { outcome: null };
          const valueCents = checkoutAmount(grantOfOpen(grant, open), input.valueCents);
          assertOrderOpen(orderStatusIn(state, grant.externalId ?? null));
          if (!joins(open, valueCents)) throw tokenUsed();
          const record = remember({
            operation: name,
            key: attemptId,
            inputHash,
            resourceId: open.orderCode,
          });
          return { outcome: open, writes: { records: [record] } };
        },
      });
    },
  };
}

/**
 * Reserves a single-use token in the transaction that opens the intent, so that of two concurrent starts only one
 * makes a payment. The token is free again once that payment has expired or failed, was refused, or is in doubt for
 * longer than it could have lived. No token of an order that is known to be paid starts one.
 */
export function reserveToken(
  name: string,
  externalId: string | null,
): NonNullable<Operation<unknown>['open']> {
  return {
    read: (reader) => readUse(reader, name, externalId),
    decide(state, intent) {
      assertOrderOpen(orderStatusIn(state, externalId));
      const last = state.get(lastIntents, name)?.intent;
      if (last && last.key !== intent.key) assertLastIsOver(state, name, last);
      return {
        records: [{ collection: lastIntents as never, key: name, row: { operation: name, intent } }],
      };
    },
  };
}

/** Loads the last payment of a token, and whether its order is paid. */
async function readUse(reader: Reader, name: string, externalId: string | null): Promise<void> {
  const [last] = await Promise.all([reader.load(lastIntents, name), readOrder(reader, externalId)]);
  if (last?.intent.resourceId) await reader.load(mirrored.card_payment, last.intent.resourceId);
}

function lastPayment(state: State, name: string): CardPayment | null {
  const orderCode = state.get(lastIntents, name)?.intent.resourceId;
  const payment = orderCode ? state.get(mirrored.card_payment, orderCode) : null;
  return payment && paymentOf(payment);
}

/** @throws UnavailableError */
function assertLastIsOver(state: State, name: string, { resourceId, createdAt }: Intent): void {
  if (resourceId) {
    const last = lastPayment(state, name);
    assertTokenFree(last);
    // A webhook alone says that it has failed, or that it was paid: it may be paid on its page yet.
    if (last?.unresolved || (last?.status === 'failed' && last.claimedAt)) throw tokenUsed();
  } else if (state.now < plusMs(createdAt, SENDING_MS + CHECKOUT_SESSION_MS)) throw tokenUsed();
}
