import { otherPart } from '../../../kernel/contradictions.ts';
import { NotFoundError, type PaymentError, UpstreamError, ValidationError } from '../../../kernel/errors.ts';
import type { PixKeyKind } from '../../../kernel/pix-key.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { claimCreated, disbelieve } from '../../../upstream/creations.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../../upstream/endpoint-availability.ts';
import {
  errorCodeOf,
  invalidInput,
  isSuccess,
  keyUsed,
  messageOf,
  refusalOf,
  toUpstreamError,
  unreadable,
} from '../../../upstream/responses.ts';
import { type UpstreamAnswer, UpstreamFault } from '../../../upstream/upstream.ts';
import { createWrite } from '../../../upstream/writes.ts';
import type { CreateSubaccountInput, Subaccount } from '../model.ts';
import { readSubaccount } from '../wire.ts';
import { RESOURCE } from './mirror.ts';

export const MAY_MANAGE = ['subcontas.gerenciar'];
export const MAY_WITHDRAW = ['subcontas.gerenciar', 'subcontas.sacar'];

/** Sends requests that change something at the service, and invalidates what was read before. */
export interface Sender {
  /** Sends a request once. @throws as `Write` */
  post(tenant: Tenant, endpoint: Endpoint, path: `/v1/${string}`, body: unknown): Promise<UpstreamAnswer>;
  /** Runs a change. After it, even after a failure, everything that it may have changed is read again. */
  withInvalidation<Result>(tenant: Tenant, change: () => Promise<Result>): Promise<Result>;
}

export function createSender({
  upstream,
  reads,
  pollNow,
  endpoints,
}: Pick<UpstreamDependencies, 'upstream' | 'reads' | 'pollNow'> & { endpoints: Endpoints }): Sender {
  const write = createWrite({ upstream, reads }, endpoints);
  return {
    post: ({ environment }, endpoint, path, body) =>
      write(endpoint, { environment, method: 'POST', path, body }),
    async withInvalidation(tenant, change) {
      try {
        return await change();
      } finally {
        reads.forget(tenant.environment);
        pollNow(tenant, RESOURCE);
        pollNow(tenant, 'wallet');
      }
    },
  };
}

/** The stored traits of a request, by which its resource is recognized. */
export interface Summary {
  subaccountId: string;
  amountCents: number;
  /** The masked PIX key of a payout; absent for a transfer. */
  pixKey?: string | null;
  /**
   * The merchant's own number of a payout, which is not sent to the service; an older version has stored
   * none.
   */
  externalId?: string | null;
  /**
   * The kind of the PIX key that the request names, and the one that was assumed. Neither is sent to the
   * service.
   */
  pixKeyType?: PixKeyKind | null;
  destinationKind?: PixKeyKind | null;
}

export function summaryOf({ subaccountId, amountCents }: Summary): Summary {
  return { subaccountId, amountCents };
}

const POST = { name: 'POST /v1/subaccounts', inWords: 'creating subaccounts' };

/** Builds the function that creates a subaccount at the service, which throws a PaymentError. */
export function createSubaccountWith(
  { post }: Sender,
  { committer, onFault }: Pick<UpstreamDependencies, 'committer' | 'onFault'>,
) {
  return async (
    tenant: Tenant,
    input: CreateSubaccountInput,
  ): Promise<{ subaccount: Subaccount; replayed: boolean }> => {
    const answer = await post(tenant, POST, '/v1/subaccounts', input).catch((error: unknown) => {
      if (!(error instanceof UpstreamFault)) throw error;
      if (error.reached === 'no') throw toUpstreamError(error);
      // With an externalId a repeated request returns the same subaccount; without one it creates a second.
      throw new UpstreamError(
        input.externalId == null ? 'OUTCOME_UNKNOWN' : 'UPSTREAM_UNAVAILABLE',
        error.message,
      );
    });
    if (isSuccess(answer)) {
      const subaccount = readSubaccount(answer.body);
      if (!subaccount) throw new UpstreamError('OUTCOME_UNKNOWN', unreadable().message);
      // For a known externalId the service returns the earlier subaccount, under its own name.
      const externalId = input.externalId ?? null;
      const contradiction = otherPart(
        ['externalId', subaccount.externalId, externalId],
        ['name', externalId === null ? subaccount.name : null, input.name],
      );
      if (contradiction !== null)
        throw disbelieve(onFault, contradiction, { inWords: POST.inWords, movesMoney: false });
      const creation = { kind: 'createSubaccount', id: subaccount.id, externalId } as const;
      await claimCreated({ committer, onFault }, tenant, creation, POST.inWords);
      return { subaccount, replayed: answer.status === 200 };
    }
    if (answer.status === 409)
      throw new ValidationError([{ path: 'input.externalId', message: 'is another subaccount’s already' }]);
    throw isInputRefused(answer)
      ? invalid(messageOf(answer.body))
      : refusalOf(answer, { permissions: MAY_MANAGE });
  };
}

// ── Refusals ────────────────────────────────────────────────────────────────────────────────────

/** The refusal of a payout or a transfer that was certainly not done. */
export async function toRefusal(
  answer: UpstreamAnswer,
  {
    secret = '',
    hasKey,
    permissions,
    toShortfall,
  }: {
    secret?: string;
    /**
     * Whether the caller has given an idempotency key: no 409 is about a key that this server has generated.
     */
    hasKey: boolean;
    permissions: readonly string[];
    /**
     * Builds the error for insufficient money, with the service's message; null if the money suffices, or the
     * figures are not known. `isCertain`: the service has said so by its code.
     */
    toShortfall: (message: string, options: { isCertain: boolean }) => Promise<PaymentError | null>;
  },
): Promise<PaymentError> {
  const message = messageOf(answer.body, { secret });
  if (answer.status === 404) return new NotFoundError('Subaccount not found');
  if (answer.status === 409 && hasKey) return keyUsed(message);
  if (!isInputRefused(answer)) return refusalOf(answer, { permissions, secret });
  const code = errorCodeOf(answer);
  if (code !== undefined && code !== 'INSUFFICIENT_FUNDS') return invalid(message);
  const text = message ?? 'The payments service refuses this';
  const shortfall = await toShortfall(text, { isCertain: code !== undefined }).catch(() => null);
  return shortfall ?? invalid(message);
}

function isInputRefused({ status }: UpstreamAnswer): boolean {
  return status === 400 || status === 422;
}

const FIELDS = ['name', 'externalId', 'subaccountId', 'amountCents', 'pixKey', 'idempotencyKey'];

function invalid(message: string | null): ValidationError {
  return invalidInput(message, { fields: FIELDS });
}
