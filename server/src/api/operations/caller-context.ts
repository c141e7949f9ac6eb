import { createHash } from 'node:crypto';
import { allowsOrigin, type Caller, callerOf, isPayer, rightsOf } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CursorsFor } from '../../kernel/cursor.ts';
import { PermissionError } from '../../kernel/errors.ts';
import { inLanguage } from '../../kernel/language.ts';
import type { HeldBytes } from '../../kernel/open-subscription.ts';
import type { CredentialListener, WatchCredential } from '../../state/events/credential.ts';
import type { Updates } from '../../state/events/subscribe.ts';
import type {
  Context,
  OnRootField,
  RootFieldLimits,
  Sharing,
  SubscriptionLimits,
} from '../graphql/context.ts';
import { createLoaders } from '../graphql/loaders.ts';
import type { ServicesFor } from '../graphql/services.ts';
import type { Admission } from '../http/admission.ts';
import { createFreshness, payersOf, requesterOf } from './freshness.ts';

/** The credential and the origin that a connection presents. */
export interface PresentedCredential {
  authorization: string | null;
  origin: string | null;
  /** The client's network address. */
  address: string;
  /** The same object for all requests of one connection; left out if a connection presents its credential once. */
  connection?: object | undefined;
}

export interface ContextFactory {
  /**
   * Finds the caller of a credential; null if none was presented. Returns a promise only if the caller is not cached.
   * @throws UnauthenticatedError, PermissionError (the page may not use the token), at once or later
   */
  identify(presented: PresentedCredential): Caller | null | Promise<Caller>;
  /**
   * Creates the context of one operation. `connection` aborts with the socket and with its credential; over HTTP a
   * subscription watches the credential itself, `gone` aborts when the client has left, and `lastEventId` is the cursor of the
   * last event that the client has seen.
   */
  create(
    presented: PresentedCredential,
    caller: Caller | null,
    transport: { connection: () => AbortSignal } | { gone: () => AbortSignal; lastEventId?: string | null },
  ): Context;
  /** Counts a request without a known credential, before any work is done for it. @throws RateLimitError, at once or later */
  admit(presented: PresentedCredential): void | Promise<void>;
  watch(
    presented: PresentedCredential,
    caller: Caller,
    listener: CredentialListener,
  ): ReturnType<WatchCredential>;
}

export function createContextFactory({
  servicesFor,
  access,
  updates,
  cursorsFor,
  watchCredential,
  clock,
  limits,
  subscriptionLimits,
  publicUrl,
  upstream,
  onRootField,
  onSubscriber,
}: {
  servicesFor: ServicesFor;
  /** Throws, or rejects, as `AccessService.authenticate`; a promise only if the caller is not cached. */
  access: Admission & {
    authenticate(authorization: string, connection?: object): Caller | Promise<Caller>;
  };
  updates: Updates;
  cursorsFor: CursorsFor;
  watchCredential: WatchCredential;
  clock: Clock;
  limits: RootFieldLimits;
  subscriptionLimits: SubscriptionLimits;
  publicUrl: string;
  /** The state of the service behind a facade; each response then says how old its data is. */
  upstream?:
    | (() => { circuits: { payer: string; query: string }; refusedKeys: readonly string[] })
    | undefined;
  onRootField: OnRootField;
  /** Counts a subscriber until the returned function is called, with the error that ended the subscription, if any. */
  onSubscriber: (transport: 'ws' | 'sse', topic: string) => (failure: unknown) => void;
}): ContextFactory {
  const watch: ContextFactory['watch'] = ({ authorization }, caller, listener) =>
    watchCredential(authorization ?? '', caller, listener);

  /**
   * The function is separate from `create`, because a subscription holds this closure: it captures only these three values.
   */
  const freshContextOf =
    (...[presented, caller, transport]: Parameters<ContextFactory['create']>) =>
    () =>
      contexts.create(presented, caller, transport);

  const contexts: ContextFactory = {
    watch,
    identify({ authorization, origin, connection }) {
      // A client without a key sends `Bearer ` with nothing after it, which is no credential rather than a wrong one.
      if (authorization === null || /^(bearer)?\s*$/i.test(authorization)) return null;
      const caller = access.authenticate(authorization, connection);
      return caller instanceof Promise
        ? caller.then((known) => assertOrigin(known, origin))
        : assertOrigin(caller, origin);
    },
    admit: ({ authorization, address, connection }) => access.admit(authorization, address, connection),
    create(presented, caller, transport): Context {
      const sequencer = new Sequencer();
      const payers = upstream && caller ? payersOf(caller, presented.address) : null;
      const freshness = upstream ? createFreshness(payers, clock) : null;
      const services = servicesFor(freshness?.requester ?? requesterOf(payers, ignoreRead));
      const servicesOfBatch = freshness
        ? (...batch: Parameters<typeof freshness.batch>) => servicesFor(freshness.batch(...batch))
        : () => services;
      let sharing: Sharing | undefined;
      let held = NOTHING_HELD;
      return {
        caller,
        address: presented.address,
        payers,
        services,
        clock,
        onRootField,
        loaders: createLoaders(caller, servicesOfBatch),
        mutationState: { mayHaveChanged: false, hasOutage: false },
        ...(freshness && {
          fieldContext(operation: Context, responseKey: string) {
            const { requester, loaders } = freshness.field(responseKey, operation.loaders);
            return { ...operation, services: servicesFor(requester), loaders };
          },
        }),
        async subscribe(subscription) {
          const subscriber = callerOf({ caller });
          const { tenant } = subscriber;
          const { resource = 'account' } = subscription.topic;
          const queueLimit = isPayer(subscriber) ? PAYER_QUEUE : undefined;
          const lastEventId = 'gone' in transport ? transport.lastEventId : null;
          const options = { ...subscription, lastEventId, tenant, dedupeKey: sharing?.dedupeKey, queueLimit };
          const opened = subscriptionLimits.open(subscriber, presented.address, held);
          if (sharing) sharing.opened = opened;
          if ('connection' in transport) {
            const onSubscriberEnd = onSubscriber('ws', resource);
            const onEnd = (failure: unknown) => {
              opened.release();
              onSubscriberEnd(failure);
            };
            return updates.subscribe({ ...options, signal: transport.connection(), onEnd });
          }
          const credential = new AbortController();
          const watching = watch(presented, subscriber, {
            credentialEnded: (error) => credential.abort(error),
          });
          const stopWatching = await watching.catch((error: unknown) => {
            opened.release();
            throw error;
          });
          const signal = AbortSignal.any([credential.signal, transport.gone()]);
          const onSubscriberEnd = onSubscriber('sse', resource);
          const onEnd = (failure: unknown) => {
            opened.release();
            stopWatching();
            onSubscriberEnd(failure);
          };
          return updates.subscribe({ ...options, signal, onEnd });
        },
        share(operation, heldBytes) {
          const rights = caller && rightsOf(caller);
          const dedupeKey = createHash('sha256')
            .update(JSON.stringify([rights, operation]))
            .digest('base64');
          held = heldBytes;
          sharing = { dedupeKey, opened: null };
          return sharing;
        },
        freshContext: freshContextOf(presented, caller, transport),
        updatesCursor() {
          const cursor = updates.cursor(callerOf({ caller }).tenant);
          // The fields after the cursor are read later, so their data is not older than the cursor.
          sequencer.hold(cursor);
          return cursor;
        },
        listCursors: (list) => cursorsFor(callerOf({ caller }).tenant, list),
        takeRootField: () => sequencer.run(() => limits.take(callerOf({ caller }), presented.address)),
        rateLimit: () => limits.peek(callerOf({ caller }), presented.address),
        checkoutUrl(id, { checkoutUrl, language }) {
          if (checkoutUrl === undefined) return `${publicUrl}/checkout/${id}`;
          // The page of a payer names the language in which it is shown.
          const namesItself = caller !== null && isPayer(caller);
          return checkoutUrl && language && !namesItself ? inLanguage(checkoutUrl, language) : checkoutUrl;
        },
        extensions() {
          if (!upstream || !freshness) return null;
          const { fields, ...whole } = freshness.state();
          const { circuits, refusedKeys } = upstream();
          const circuit = payers ? circuits.payer : circuits.query;
          // Only the merchant can configure another key.
          const isKeyRefused =
            caller !== null && !isPayer(caller) && refusedKeys.includes(caller.tenant.environment);
          return { upstream: { ...whole, circuit, ...(isKeyRefused && { keyRefused: true }), fields } };
        },
      };
    },
  };
  return contexts;
}

/** Refuses a token on a page that may not use it. @throws PermissionError */
function assertOrigin(caller: Caller, origin: string | null): Caller {
  if (!allowsOrigin(caller, origin)) throw new PermissionError('This token may not be used on this page');
  return caller;
}

/** The most events in the queue of a payer: a payment has few, and the events of many payers are not shared. */
const PAYER_QUEUE = 32;
const NOTHING_HELD: HeldBytes = { operation: null, variables: 0 };

/** In an embedded server no data has an age: only another service's data does. */
const ignoreRead = () => undefined;

/** Runs steps one after the other, and at once if none is running, so that most take no turn of the event loop. */
class Sequencer {
  /** The last step, null once it has settled. Never rejects. */
  #last: Promise<void> | null = null;
  /** The promise that steps wait for, null once it has settled. Never rejects. */
  #held: Promise<void> | null = null;

  run(step: () => void | Promise<void>): void | Promise<void> {
    const running = this.#last || this.#held ? this.#runAfter(this.#last, step) : step();
    if (!running) return;
    const own = settled(running);
    this.#last = own;
    void own.then(() => {
      if (this.#last === own) this.#last = null;
    });
    return running;
  }

  /** Delays steps that have not begun until the promise has settled. */
  hold(promise: Promise<unknown>): void {
    const own = settled(promise);
    this.#held = own;
    void own.then(() => {
      if (this.#held === own) this.#held = null;
    });
  }

  async #runAfter(previous: Promise<void> | null, step: () => void | Promise<void>): Promise<void> {
    await previous;
    while (this.#held) await this.#held;
    await step();
  }
}

function settled(promise: Promise<unknown>): Promise<void> {
  return promise.then(
    () => undefined,
    () => undefined,
  );
}
