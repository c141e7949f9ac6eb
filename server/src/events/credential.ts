import { type Clock, plusMs } from '../kernel/clock.ts';
import { PaymentError, UnauthenticatedError } from '../kernel/errors.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { LogTailer } from './log-tailer.ts';

/** The caller behind a credential. */
export interface Holder {
  readonly tenant: Tenant;
  readonly credential: { readonly id: string };
  readonly expiresAt: Date | null;
  /** Credentials whose revocation ends this one. */
  readonly endsWith: readonly string[];
}

/** A subscription that a credential holds open. */
export interface Opened {
  /** At the moment that the credential expires or is revoked, anywhere; with the error to show. */
  credentialEnded(error: PaymentError): void;
}

/**
 * Tells what is opened of the end of its credential, before it resolves if that has come already; the returned function
 * forgets it.
 */
export type WatchCredential = (authorization: string, caller: Holder, opened: Opened) => Promise<() => void>;

/** How long after it could not be looked at a credential is looked at again, where it may have been revoked unheard. */
const RETRY_MS = 5_000;

/** One credential, for all that is open by it: ten thousand sockets of one shop's page are looked after as one. */
interface Watch {
  readonly name: string;
  readonly opened: Set<Opened>;
  readonly stops: (() => void)[];
  isOver: boolean;
  /** Listening, and looked since. */
  ready: Promise<void>;
}

export function createCredentialWatch({
  access,
  tailer,
  clock,
  onFault,
}: {
  access: {
    /** Rejects with a PaymentError where the credential has ended. */
    authenticate(authorization: string): Promise<unknown>;
  };
  tailer: LogTailer;
  clock: Clock;
  onFault: (fault: unknown) => void;
}): WatchCredential {
  /** None of them has ended. */
  const watches = new Map<string, Watch>();

  function begin(name: string, authorization: string, caller: Holder): Watch {
    const watch: Watch = { name, opened: new Set(), stops: [], isOver: false, ready: Promise.resolve() };
    watches.set(name, watch);
    const end = (error: PaymentError) => {
      forget(watch);
      for (const each of watch.opened) each.credentialEnded(error);
      watch.opened.clear();
    };
    watch.ready = listen(watch, authorization, caller, end).catch((error: unknown) => {
      if (error instanceof PaymentError) return end(error);
      forget(watch);
      throw error;
    });
    return watch;
  }

  async function listen(
    watch: Watch,
    authorization: string,
    { expiresAt, endsWith, tenant }: Holder,
    end: (error: PaymentError) => void,
  ): Promise<void> {
    const { stops } = watch;
    if (expiresAt)
      stops.push(clock.schedule(expiresAt, () => end(new UnauthenticatedError('This token has expired'))));
    const revoked = () => end(new UnauthenticatedError('This credential was revoked'));
    // In the log as it is now a revocation may lie that was not heard.
    const setBack = () => void authenticateAgain(watch, authorization, end);
    for (const resourceId of endsWith) {
      const topic = { resource: 'credential', resourceId } as const;
      const stop = await tailer.listen(tenant, topic, revoked, setBack);
      if (watch.isOver) return stop();
      stops.push(stop);
    }
    // Listening first, then looking: a revocation in between is seen by one of the two.
    await access.authenticate(authorization);
  }

  async function authenticateAgain(
    watch: Watch,
    authorization: string,
    end: (error: PaymentError) => void,
  ): Promise<void> {
    try {
      await access.authenticate(authorization);
    } catch (error) {
      if (watch.isOver) return;
      if (error instanceof PaymentError) return end(error);
      onFault(error);
      const retry = () => void authenticateAgain(watch, authorization, end);
      watch.stops.push(clock.schedule(plusMs(clock.now(), RETRY_MS), retry));
    }
  }

  function forget(watch: Watch): void {
    if (watches.get(watch.name) === watch) watches.delete(watch.name);
    watch.isOver = true;
    for (const stop of watch.stops.splice(0)) stop();
  }

  function watchOf(authorization: string, caller: Holder): Watch {
    const name = `${tenantKey(caller.tenant)} ${caller.credential.id} ${caller.expiresAt?.getTime()}`;
    return watches.get(name) ?? begin(name, authorization, caller);
  }

  return async function watchCredential(authorization, caller, opened) {
    const watch = watchOf(authorization, caller);
    watch.opened.add(opened);
    await watch.ready;
    return () => {
      watch.opened.delete(opened);
      if (watch.opened.size === 0) forget(watch);
    };
  };
}
