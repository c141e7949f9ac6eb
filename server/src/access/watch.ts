import type { Follower } from '../events/follow.ts';
import type { Clock } from '../kernel/clock.ts';
import { PaymentError, UnauthenticatedError } from '../kernel/errors.ts';
import type { AccessService, Caller } from './model.ts';

/**
 * Aborts the signal, with the error to show, at the moment that the credential expires or is revoked, on whichever
 * instance. Something that stays open is opened with this; `stop` forgets it.
 */
export async function watchCredential({
  authorization,
  caller,
  access,
  follower,
  clock,
}: {
  authorization: string;
  caller: Caller;
  access: AccessService;
  follower: Follower;
  clock: Clock;
}): Promise<{ signal: AbortSignal; stop: () => void }> {
  const controller = new AbortController();
  const end = (error: PaymentError) => controller.abort(error);
  const stops: (() => void)[] = [];
  const stop = () => {
    for (const each of stops.splice(0)) each();
  };

  if (caller.expiresAt)
    stops.push(
      clock.schedule(caller.expiresAt, () => end(new UnauthenticatedError('This token has expired'))),
    );
  try {
    for (const resourceId of caller.endsWith)
      stops.push(
        await follower.listen(caller.tenant, { resource: 'credential', resourceId }, () =>
          end(new UnauthenticatedError('This credential was revoked')),
        ),
      );
    // Listening first, then looking: a revocation in between is seen by one of the two.
    await access.authenticate(authorization).catch((error: unknown) => {
      if (!(error instanceof PaymentError)) throw error;
      end(error);
    });
  } catch (error) {
    stop();
    throw error;
  }
  return { signal: controller.signal, stop };
}
