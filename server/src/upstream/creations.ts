import { behindChange, UpstreamError } from '../kernel/errors.ts';
import { deterministicId, objectId } from '../kernel/ids.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Committer } from '../state/commit/commit.ts';
import { claiming } from './intents/commands.ts';
import { unreadable } from './responses.ts';

// One rule for the answers to all creations. An answer belongs to its request if it fits the request, and if
// the resource that it names belongs to no other request. Any other answer leaves the outcome unknown if
// money may move, and is no sale.

/** The contradiction of an answer that names the resource of another request, or one that existed before. */
export const OF_ANOTHER = 'what belongs to another request';

/**
 * Reports an answer that does not belong to its request, and builds the error for its caller. `inWords`: the
 * purpose of the request, such as `creating charges`.
 */
export function disbelieve(
  onFault: (fault: unknown) => void,
  contradiction: string,
  { inWords, movesMoney }: { inWords: string; movesMoney: boolean },
): Error {
  onFault(faultOf(contradiction, inWords));
  return disbelieved(contradiction, { movesMoney });
}

/**
 * Builds the error for an answer that does not belong to its request. If the request moves money, the outcome
 * is unknown, for the service has done something. For a sale it is an error, for nobody has seen its code or
 * its page.
 */
export function disbelieved(contradiction: string, { movesMoney }: { movesMoney: boolean }): Error {
  if (movesMoney) return unreadable(contradiction);
  return new UpstreamError(
    'UPSTREAM_REFUSED',
    `The answer of the payments service is not what was requested: it has ${contradiction}`,
  );
}

/** Builds the log entry for such an answer. */
export function faultOf(contradiction: string, inWords: string): Error {
  return new Error(`The payments service was asked for ${inWords}, and has answered with ${contradiction}`);
}

/** A creation without an idempotency key, of a resource that this server does not store. */
export interface Creation {
  kind: 'createProduct' | 'createSubaccount';
  /** The id in its answer. */
  id: string;
  /**
   * The merchant's own number, for which the service returns an earlier resource again; null if the request
   * has none.
   */
  externalId: string | null;
}

/**
 * Asserts that the resource in the answer to a creation belongs to no other creation, and records that it
 * belongs to this one.
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
  throw disbelieve(onFault, OF_ANOTHER, { inWords, movesMoney: false });
}
