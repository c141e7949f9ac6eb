import type { AccessService, Caller } from '../access/model.ts';
import type { Clock } from '../kernel/clock.ts';
import { PaymentError, UnauthenticatedError } from '../kernel/errors.ts';
import type { Follower } from './follow.ts';

/** Aborts its signal, with the error to show, at the moment that the credential expires or is revoked, anywhere. */
export type WatchCredential = (
  authorization: string,
  caller: Caller,
) => Promise<{ signal: AbortSignal; stop: () => void }>;

/** Something that stays open is opened with the signal; `stop` forgets it. */
export function createCredentialWatch({
  access,
  follower,
  clock,
}: {
  access: AccessService;
  follower: Follower;
  clock: Clock;
}): WatchCredential {
  return async function watchCredential(authorization, caller) {
    const controller = new AbortController();
    const end = (error: PaymentError) => controller.abort(error);
    const stops: (() => void)[] = [];
    const stop = () => {
      for (const each of stops.splice(0)) each();
    };

    try {
      if (caller.expiresAt)
        stops.push(
          clock.schedule(caller.expiresAt, () => end(new UnauthenticatedError('This token has expired'))),
        );
      for (const resourceId of caller.endsWith)
        stops.push(
          await follower.listen(caller.tenant, { resource: 'credential', resourceId }, () =>
            end(new UnauthenticatedError('This credential was revoked')),
          ),
        );
      // Listening first, then looking: a revocation in between is seen by one of the two.
      await access.authenticate(authorization);
    } catch (error) {
      if (!(error instanceof PaymentError)) {
        stop();
        throw error;
      }
      end(error);
    }
    return { signal: controller.signal, stop };
  };
}
