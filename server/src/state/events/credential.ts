import { type Clock, plusMs } from '../../kernel/clock.ts';
import { PaymentError, UnauthenticatedError } from '../../kernel/errors.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { LogTailer } from './log-tailer.ts';

/** The caller behind a credential. */
export interface Holder {
  readonly tenant: Tenant;
  readonly credential: { readonly id: string };
  readonly expiresAt: Date | null;
  /** Credentials whose revocation ends this one. */
  readonly endsWith: readonly string[];
}

/** A connection or subscription that depends on a credential. */
export interface CredentialListener {
  /** Called with the error to report when the credential expires, or is revoked on any instance. */
  credentialEnded(error: PaymentError): void;
}

/**
 * Watches a credential for a listener. If the credential has ended already, the listener is notified before
 * this resolves. The returned function removes the listener.
 */
export type WatchCredential = (
  authorization: string,
  caller: Holder,
  listener: CredentialListener,
) => Promise<() => void>;

/** The delay between attempts to authenticate a credential again, after a revocation may have been missed. */
const RETRY_MS = 5_000;

/** The watch of one credential, shared by all its listeners: ten thousand sockets of one shop's page need only one. */
interface Watch {
  readonly key: string;
  readonly listeners: Set<CredentialListener>;
  readonly stops: (() => void)[];
  hasEnded: boolean;
  /** Resolves when the watch listens for revocations and has authenticated the credential since. */
  ready: Promise<void>;
}

export function createCredentialWatch({
  access,
  tailer,
  clock,
  onFault,
}: {
  access: {
    /** Rejects with a PaymentError if the credential has ended. */
    authenticate(authorization: string): Promise<unknown>;
  };
  tailer: LogTailer;
  clock: Clock;
  onFault: (fault: unknown) => void;
}): WatchCredential {
  /** The watches that have not ended, by credential. */
  const watches = new Map<string, Watch>();

  function begin(key: string, authorization: string, caller: Holder): Watch {
    const watch: Watch = { key, listeners: new Set(), stops: [], hasEnded: false, ready: Promise.resolve() };
    watches.set(key, watch);
    const end = (error: PaymentError) => {
      forget(watch);
      for (const listener of watch.listeners) listener.credentialEnded(error);
      watch.listeners.clear();
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
    const onRevoked = () => end(new UnauthenticatedError('This credential was revoked'));
    // The log may now hold a revocation that was never delivered.
    const onSetBack = () => void reauthenticate(watch, authorization, end);
    for (const resourceId of endsWith) {
      const topic = { resource: 'credential', resourceId } as const;
      const stop = await tailer.listen(tenant, topic, onRevoked, onSetBack);
      if (watch.hasEnded) return stop();
      stops.push(stop);
    }
    // The watch listens first, then authenticates: one of the two notices a revocation in between.
    await access.authenticate(authorization);
  }

  async function reauthenticate(
    watch: Watch,
    authorization: string,
    end: (error: PaymentError) => void,
  ): Promise<void> {
    try {
      await access.authenticate(authorization);
    } catch (error) {
      if (watch.hasEnded) return;
      if (error instanceof PaymentError) return end(error);
      onFault(error);
      const retry = () => void reauthenticate(watch, authorization, end);
      watch.stops.push(clock.schedule(plusMs(clock.now(), RETRY_MS), retry));
    }
  }

  function forget(watch: Watch): void {
    if (watches.get(watch.key) === watch) watches.delete(watch.key);
    watch.hasEnded = true;
    for (const stop of watch.stops.splice(0)) stop();
  }

  function findOrBegin(authorization: string, caller: Holder): Watch {
    const key = `${tenantKey(caller.tenant)} ${caller.credential.id} ${caller.expiresAt?.getTime()}`;
    return watches.get(key) ?? begin(key, authorization, caller);
  }

  return async function watchCredential(authorization, caller, listener) {
    const watch = findOrBegin(authorization, caller);
    watch.listeners.add(listener);
    await watch.ready;
    return () => {
      watch.listeners.delete(listener);
      if (watch.listeners.size === 0) forget(watch);
    };
  };
}
