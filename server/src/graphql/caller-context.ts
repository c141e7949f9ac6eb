import { createHash } from 'node:crypto';
import { allowsOrigin, type Caller, rightsOf } from '../access/model.ts';
import type { Opened, WatchCredential } from '../events/credential.ts';
import type { Updates } from '../events/subscribe.ts';
import type { Admission } from '../http/admission.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CursorsFor } from '../kernel/cursor.ts';
import { PermissionError } from '../kernel/errors.ts';
import type { Requester } from '../kernel/requester.ts';
import {
  type Context,
  callerOf,
  createLoaders,
  type OnRootField,
  type PaymentsService,
  type RootFieldLimits,
  type ServicesFor,
  type SubscriptionLimits,
} from './context.ts';

/** Who speaks on a connection, as it presented itself. */
export interface PresentedCredential {
  authorization: string | null;
  origin: string | null;
  /** The client's network address. */
  address: string;
  /** One object for all that is presented by one connection; left out where that is once. */
  connection?: object | undefined;
}

export interface ContextFactory {
  /**
   * At once where that is known. Null where nothing was presented. Throws, or rejects with, UnauthenticatedError,
   * PermissionError (a page that may not use it).
   */
  identify(presented: PresentedCredential): Caller | null | Promise<Caller>;
  /**
   * For one operation. `connection` ends with the socket that it came by and with its credential; over HTTP a
   * subscription watches the credential itself, and `gone` aborts when the client has left.
   */
  create(
    presented: PresentedCredential,
    caller: Caller | null,
    transport: { connection: () => AbortSignal } | { gone: () => AbortSignal },
  ): Context;
  /** Counts a request whose credential is not known, before anything is done for it. @throws RateLimitError, at once or later */
  admit(presented: PresentedCredential): void | Promise<void>;
  watch(presented: PresentedCredential, caller: Caller, opened: Opened): ReturnType<WatchCredential>;
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
  /** At once where it is known. Throws, or rejects, as `AccessService.authenticate`. */
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
  /** In front of another service: how it stands. An answer then says how old it is. */
  upstream?: (() => { circuit: string }) | undefined;
  onRootField: OnRootField;
  /** Somebody follows something, until what is returned is called with what ended it, if anything has. */
  onSubscriber: (transport: 'ws' | 'sse', topic: string) => (failure: unknown) => void;
}): ContextFactory {
  const watch: ContextFactory['watch'] = ({ authorization }, caller, opened) =>
    watchCredential(authorization ?? '', caller, opened);

  /** All that a subscription keeps of its context, so here rather than among everything else that one is made of. */
  const renewing =
    (...[presented, caller, transport]: Parameters<ContextFactory['create']>) =>
    () =>
      contexts.create(presented, caller, transport);

  const contexts: ContextFactory = {
    watch,
    identify({ authorization, origin, connection }) {
      // GraphiQL opens with `Bearer ` and nothing behind it: no credential, rather than a wrong one.
      if (authorization === null || /^(bearer)?\s*$/i.test(authorization)) return null;
      const caller = access.authenticate(authorization, connection);
      return caller instanceof Promise
        ? caller.then((known) => onOwnPage(known, origin))
        : onOwnPage(caller, origin);
    },
    admit: ({ authorization, address, connection }) => access.admit(authorization, address, connection),
    create(presented, caller, transport): Context {
      const order = createOrder();
      const age = createAge(caller, clock);
      const services = servicesWhenAsked(servicesFor, age.requester);
      let sharedAs: string | undefined;
      return {
        caller,
        address: presented.address,
        services,
        clock,
        onRootField,
        loaders: createLoaders(caller, services),
        async subscribe(subscription) {
          const tailer = callerOf({ caller });
          const { resource } = subscription.topic;
          const followed = { ...subscription, tenant: tailer.tenant, sharedAs };
          const close = subscriptionLimits.open(tailer);
          if ('connection' in transport) {
            const leave = onSubscriber('ws', resource);
            const onEnd = (failure: unknown) => {
              close();
              leave(failure);
            };
            return updates.subscribe({ ...followed, signal: transport.connection(), onEnd });
          }
          const ended = new AbortController();
          const watching = watch(presented, tailer, {
            credentialEnded: (error) => ended.abort(error),
          });
          const stop = await watching.catch((error: unknown) => {
            close();
            throw error;
          });
          const either = AbortSignal.any([ended.signal, transport.gone()]);
          const leave = onSubscriber('sse', resource);
          const onEnd = (failure: unknown) => {
            close();
            stop();
            leave(failure);
          };
          return updates.subscribe({ ...followed, signal: either, onEnd });
        },
        shareAs(operation) {
          const rights = caller && rightsOf(caller);
          sharedAs = createHash('sha256')
            .update(JSON.stringify([rights, operation]))
            .digest('base64');
          return sharedAs;
        },
        renewed: renewing(presented, caller, transport),
        updatesCursor() {
          const cursor = updates.cursor(callerOf({ caller }).tenant);
          // The database may answer what is asked later first.
          order.hold(cursor);
          return cursor;
        },
        listCursors: (list) => cursorsFor(callerOf({ caller }).tenant, list),
        takeRootField: () => order.next(() => limits.take(callerOf({ caller }), presented.address)),
        rateLimit: () => limits.look(callerOf({ caller }), presented.address),
        checkoutUrl: (orderCode) => `${publicUrl}/checkout/${orderCode}`,
        extensions: () => (upstream ? { upstream: { ...age.seen(), circuit: upstream().circuit } } : null),
      };
    },
  };
  return contexts;
}

/** @throws PermissionError for a token of other pages */
function onOwnPage(caller: Caller, origin: string | null): Caller {
  if (!allowsOrigin(caller, origin)) throw new PermissionError('This token may not be used on this page');
  return caller;
}

/**
 * Made where they are asked for: thousands of subscriptions keep a context, and few of them ever look anything up. The
 * getters are one object's for all; where each context had its own, each would have a shape of its own, which V8 keeps
 * until it looks through all the memory.
 */
function servicesWhenAsked(servicesFor: ServicesFor, requester: Requester): PaymentsService {
  return { __proto__: SERVICES, servicesFor, requester, made: null } as unknown as PaymentsService;
}

const SERVICES = Object.create(null);
for (const name of [
  'access',
  'cardPayments',
  'payouts',
  'products',
  'requests',
  'sandbox',
  'subaccounts',
  'wallet',
  'webhooks',
] satisfies (keyof PaymentsService)[])
  Object.defineProperty(SERVICES, name, {
    get(this: { servicesFor: ServicesFor; requester: Requester; made: PaymentsService | null }) {
      this.made ??= this.servicesFor(this.requester);
      return this.made[name];
    },
  });

/** Who asks, and the oldest of what it was told. */
function createAge(caller: Caller | null, clock: Clock) {
  let oldest: Date | null = null;
  let stale = false;
  const credential = caller?.credential;
  const requester: Requester = {
    priority:
      credential?.kind === 'checkout_token' || credential?.kind === 'payment_token' ? 'payer' : 'merchant',
    subject: credential && credential.kind !== 'api_key' ? credential.id : null,
    onRead(at, isStale) {
      if (oldest === null || at < oldest) oldest = at;
      stale ||= isStale;
    },
  };
  return {
    requester,
    seen: () => ({
      ageSeconds: oldest && Math.max(0, (clock.ms() - oldest.getTime()) / 1_000),
      stale,
    }),
  };
}

/** Steps one behind the other: at once while nothing is under way, so that most cost no turn of the event loop. */
function createOrder() {
  /** The last step, or what is held for; settled when null. Neither ever rejects. */
  let tail: Promise<void> | null = null;
  let held: Promise<void> | null = null;
  const settled = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      () => undefined,
    );

  async function behind(before: Promise<void> | null, step: () => void | Promise<void>): Promise<void> {
    await before;
    while (held) await held;
    await step();
  }

  return {
    next(step: () => void | Promise<void>): void | Promise<void> {
      const taken = tail || held ? behind(tail, step) : step();
      if (!taken) return;
      const own = settled(taken);
      tail = own;
      void own.then(() => {
        if (tail === own) tail = null;
      });
      return taken;
    },
    /** Steps that have not begun wait until this has ended, however it ends. */
    hold(promise: Promise<unknown>): void {
      const own = settled(promise);
      held = own;
      void own.then(() => {
        if (held === own) held = null;
      });
    },
  };
}
