import { behindChange, UpstreamError } from '../kernel/errors.ts';
import { deterministicId, objectId } from '../kernel/ids.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Committer } from '../state/commit/commit.ts';
import { claiming } from './intents/commands.ts';
import { unreadable } from './responses.ts';

// One rule for the answers to all creations. An answer is of the request where it fits what was asked, and where what it names belongs
// to nobody else. Any other leaves money in doubt, and is no sale.

/** The contradiction of an answer that names what another request has been answered with, or what was there before. */
export const OF_ANOTHER = 'what belongs to another request';

/**
 * Builds the error of an answer that is not of its request: of money an unknown outcome, for the service has done something; of a sale an error, for
 * nobody has seen its code or its page.
 */
export function disbelieved(contradiction: string, { movesMoney }: { movesMoney: boolean }): Error {
  if (movesMoney) return unreadable(contradiction);
  return new UpstreamError(
    `The answer of the payments service is not what was requested: it has ${contradiction}`,
    {
      retryable: false,
      moneyMayHaveMoved: false,
    },
  );
}

/** Builds the entry in the log of such an answer. `inWords`: the purpose of the request, as `creating charges`. */
export function faultOf(contradiction: string, inWords: string): Error {
  return new Error(`The payments service was asked for ${inWords}, and has answered with ${contradiction}`);
}

/** A creation without an idempotency key, of a resource that is not stored here. */
export interface Creation {
  kind: 'createProduct' | 'createSubaccount';
  /** The id that it was answered with. */
  id: string;
  /** The merchant's own number, by which the service gives what it has made before; null where the request has none. */
  externalId: string | null;
}

/**
 * Asserts that what a creation was answered with belongs to no other, and records that it is its own.
 * @throws UpstreamError
 */
export async function claimCreated(
  { committer, onFault }: { committer: Pick<Committer, 'change'>; onFault: (fault: unknown) => void },
  tenant: Tenant,
  { kind, id, externalId }: Creation,
  inWords: string,
): Promise<void> {
  const key = `psa-${externalId === null ? objectId() : deterministicId(24, externalId)}`;
  const isOwn = await committer
    .change(claiming(tenant, { kind, key, resourceId: id }))
    .catch((error: unknown) => {
      throw behindChange(error);
    });
  if (isOwn) return;
  onFault(faultOf(OF_ANOTHER, inWords));
  throw disbelieved(OF_ANOTHER, { movesMoney: false });
}
