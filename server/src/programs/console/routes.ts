import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { AccessService } from '../../access/model.ts';
import {
  CONSOLE_TOKEN_SECONDS,
  SESSION_SECONDS,
  type Session,
  type SessionService,
  scopesOf,
} from '../../access/sessions.ts';
import type { Admission } from '../../api/http/admission.ts';
import type { ClientAddress } from '../../api/http/client-address.ts';
import { filesRoute } from '../../api/http/files.ts';
import type { OpenFile, TakeRequest } from '../../api/http/rest-routes.ts';
import { type RequestContext, type Route, send } from '../../api/http/routes.ts';
import { createSameOrigin, pagePolicy } from '../../api/http/same-origin.ts';
import { widgetPath } from '../../kernel/assets.ts';
import {
  type Caller,
  DASHBOARD_SCOPES,
  type DashboardScope,
  environmentOfKey,
  isUnrestricted,
  may,
} from '../../kernel/caller.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import type { CursorsFor } from '../../kernel/cursor.ts';
import { RateLimitError, UnauthenticatedError, ValidationError } from '../../kernel/errors.ts';
import { hashSecret } from '../../kernel/ids.ts';
import { createLRUCache } from '../../kernel/lru-cache.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Log } from '../../state/db/log.ts';
import { type Actor, createActions, keyText } from './actions.ts';
import { createDeveloperRoutes, type DeveloperOperations } from './developers.ts';
import type { ConsoleAction } from './offered.ts';
import { createSubaccountRoutes, type SubaccountOperations } from './subaccounts.ts';
import { type ConsoleOperations, createWriteRoutes } from './writes.ts';

export interface ConsoleDependencies {
  /** The tenant that everybody sees who reaches the server; null if an API key is needed. */
  open: Tenant | null;
  access: Pick<AccessService, 'createDashboardToken'>;
  sessions: SessionService;
  /** Null if the console is open, and money is real: then it only reads. */
  operations: (() => ConsoleOperations & DeveloperOperations & SubaccountOperations) | null;
  /** The changes that the service takes: a page has no buttons for others. */
  offered: readonly ConsoleAction[];
  /** Whether another service is behind this server. */
  isFacade: boolean;
  /** The documents that this server has beside the console. */
  documents: Documents;
  /** Lists the environments whose key another service behind this server refuses. */
  refusedKeys: () => readonly Tenant['environment'][];
  cursorsFor: CursorsFor;
  takeRequest: TakeRequest;
  /** Counts the requests of an account since midnight in São Paulo. */
  requestsToday: (accountId: string) => Promise<number>;
  openFile: OpenFile;
  callers: Admission & {
    authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
  };
  addressOf: ClientAddress;
  strangers: { take(address: string): void | Promise<void>; putBack(address: string): void };
  clock: Clock;
  log: Log;
  publicUrl: string;
}

/** The pages, which are one document: its script shows the one of the address. */
const PAGES = [
  ...['sales', 'subscriptions', 'disputes', 'products', 'statement', 'payouts'],
  ...['subaccounts', 'developers'],
];

const noInput = z.object({});
const signInInput = z.object({ key: keyText });

/** The answer to a page that opens. The token is null if the key may read nothing that the console shows. */
interface Entry {
  token: string | null;
  /** The server's time, from which the page counts: the page's own clock may be wrong, and the simulator's may be ahead. */
  now: Date;
  environment: Tenant['environment'];
  account: string;
  scopes: DashboardScope[];
  /** The key of the session; null if the console is open. */
  key: { name: string | null; hint: string | null } | null;
  /** Whether refunds, answers to disputes, cancellations and changes of products, keys, tokens and webhooks may be requested. */
  mayWrite: boolean;
  /** The names of the changes that the service takes; none if nothing may be requested. */
  actions: readonly ConsoleAction[];
  /** Whether transfers to subaccounts and payouts of them may be requested. */
  mayPaySubaccounts: boolean;
  /** Whether another service is behind this server, which may not have the list of a page. */
  isFacade: boolean;
  documents: Documents;
  /** Whether another service behind this server refuses its key. */
  keyRefused: boolean;
}

/** Whether GraphiQL is at `/graphql`, and the document of the REST interface at `/v1/docs`. */
interface Documents {
  graphiql: boolean;
  rest: boolean;
}

/**
 * The routes of the merchant's console at `/console`. It reads with dashboard tokens of 15 minutes. An API key is presented
 * once, and then a cookie that no script reads names a session; the browser keeps no key.
 */
export function createConsoleRoutes({
  open,
  access,
  sessions,
  operations,
  offered,
  isFacade,
  documents,
  refusedKeys,
  cursorsFor,
  takeRequest,
  requestsToday,
  openFile,
  callers,
  addressOf,
  strangers,
  clock,
  log,
  publicUrl,
}: ConsoleDependencies): Route[] {
  const sameOrigin = createSameOrigin(publicUrl);
  const { guard, action } = sameOrigin;
  const { pathname, protocol } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}/console`;
  // A browser takes this prefix over https alone, so that a page without it sets no such cookie.
  const cookieName = protocol === 'https:' ? `__Secure-${COOKIE}` : COOKIE;
  const cookie = (text: string, maxAgeSeconds: number) => ({
    'set-cookie': [
      `${cookieName}=${text}`,
      `Path=${path}`,
      `Max-Age=${maxAgeSeconds}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(protocol === 'https:' ? ['Secure'] : []),
    ].join('; '),
  });

  /** The hashes of the cookies of sessions that this server has found. */
  const known = createLRUCache<true>(KNOWN_BYTES);

  /**
   * Finds the session of a request; null if there is none. A cookie that is not known is counted before it costs a query.
   * @throws RateLimitError
   */
  async function findSession({ request }: RequestContext): Promise<Session | null> {
    const text = readCookie(request, cookieName);
    if (text === null) return null;
    const hash = hashSecret(text);
    const isKnown = known.has(hash);
    const address = addressOf(request);
    if (!isKnown) await strangers.take(address);
    const session = await sessions.find(text);
    // A request with a session is not counted: a neighbor cannot lock out who is signed in.
    if (session && !isKnown) strangers.putBack(address);
    if (session) known.set(hash, true);
    else known.delete(hash);
    return session;
  }

  /** @throws UnauthenticatedError, and RateLimitError for a network that has no session too often */
  async function sessionOf(context: RequestContext): Promise<Session> {
    const session = await findSession(context);
    if (session) return session;
    if (readCookie(context.request, cookieName) === null) await strangers.take(addressOf(context.request));
    throw new UnauthenticatedError('Sign in with an API key');
  }

  /** Counts a request of an account, as one on `/v1`. @throws RateLimitError */
  async function countRequest({ accountId }: Tenant): Promise<Actor['requests']> {
    const { admitted, limit, remaining, resetAt } = await takeRequest(accountId);
    if (!admitted) throw new RateLimitError(`${limit} requests a minute`, secondsUntil(resetAt, clock));
    return { limit, remaining, resetAt };
  }

  /** @throws UnauthenticatedError, RateLimitError */
  async function findActor(context: RequestContext): Promise<Actor> {
    const session = open ? null : await sessionOf(context);
    const tenant = open ?? session!.caller.tenant;
    return { tenant, session, requests: await countRequest(tenant) };
  }

  /** Writes a line of the audit: what a session has done, with its key and its account. */
  function audit(happened: string, { sessionId, caller, key }: Session, details: object = {}): void {
    const fields = { audit: happened, sessionId, keyId: key.id, ...caller.tenant, ...details };
    log.info(fields, `console: ${happened}`);
  }

  /** Authenticates a text that may be a key, within the limit of its network. @throws UnauthenticatedError, RateLimitError */
  async function authenticate(key: string, { request }: RequestContext): Promise<Caller> {
    const authorization = `Bearer ${key}`;
    await callers.admit(authorization, addressOf(request), request.socket);
    // A token is no key.
    if (environmentOfKey(key) === null) throw new UnauthenticatedError('Invalid API key');
    return callers.authenticate(authorization, request.socket);
  }

  async function endSession(context: RequestContext): Promise<void> {
    const session = await findSession(context);
    if (!session) return;
    await sessions.end(session);
    audit('signed out', session);
  }

  async function enter(session: Session): Promise<Entry> {
    const scopes = scopesOf(session.caller);
    const minted = scopes.length > 0 ? await sessions.mint(session, scopes) : null;
    const { name, hint } = session.key;
    const mayWrite = isUnrestricted(session.caller.credential);
    return {
      token: minted?.token ?? null,
      now: clock.now(),
      environment: session.caller.tenant.environment,
      account: session.caller.tenant.accountId,
      scopes,
      key: { name, hint },
      mayWrite,
      actions: mayWrite ? offered : [],
      mayPaySubaccounts: may(session.caller, 'subaccounts.manage'),
      isFacade,
      documents,
      keyRefused: refusedKeys().includes(session.caller.tenant.environment),
    };
  }

  async function enterOpen(tenant: Tenant): Promise<Entry> {
    const scopes = [...DASHBOARD_SCOPES];
    const { token } = await access.createDashboardToken(tenant, null, {
      scopes,
      expiresInSeconds: CONSOLE_TOKEN_SECONDS,
    });
    const { environment, accountId } = tenant;
    return {
      token,
      now: clock.now(),
      environment,
      account: accountId,
      scopes,
      key: null,
      mayWrite: operations !== null,
      actions: operations ? offered : [],
      mayPaySubaccounts: operations !== null,
      isFacade,
      documents,
      keyRefused: refusedKeys().includes(environment),
    };
  }

  // The token is minted by an action, because it is a row: an address that any page can load must not make one.
  const token = action(/^\/console\/token$/, noInput, async (_, context) => {
    const { tenant, session } = await findActor(context);
    return { status: 201, body: await (session ? enter(session) : enterOpen(tenant)) };
  });

  const signIn = action(/^\/console\/sign-in$/, signInInput, async ({ key }, context) => {
    const caller = await authenticate(key, context);
    await countRequest(caller.tenant);
    await endSession(context);
    const { session, text } = await sessions.begin(caller);
    known.set(hashSecret(text), true);
    audit('signed in', session);
    return { status: 201, body: await enter(session), headers: cookie(text, SESSION_SECONDS) };
  });

  const signOut = action(/^\/console\/sign-out$/, noInput, async (_, context) => {
    await endSession(context);
    return { body: {}, headers: cookie('', 0) };
  });

  const actions = createActions({
    ...{ findActor, audit },
    async confirm(session, key, context) {
      const caller = await authenticate(key, context).catch(toNull);
      if (caller?.credential.id === session.key.id) return;
      audit('wrong key', session);
      throw new ValidationError([{ path: 'key', message: 'must be the key of this session' }]);
    },
  });
  const writes = operations
    ? [
        ...createWriteRoutes({ operations, sameOrigin, actions, openFile }),
        ...createDeveloperRoutes({ operations, sameOrigin, actions, requestsToday, cursorsFor, clock }),
        ...createSubaccountRoutes({ operations, sameOrigin, actions }),
      ]
    : [];
  return [token, ...(open ? [] : [signIn, signOut]), ...writes, ...pageRoutes(path, publicUrl).map(guard)];
}

const COOKIE = 'psa_console';
/** The memory for the sessions that a server knows: some three thousand. */
const KNOWN_BYTES = 1_000_000;

/** @throws any other error than that of a key that is not known */
function toNull(error: unknown): null {
  if (error instanceof UnauthenticatedError) return null;
  throw error;
}

/** Reads the session's text from the cookie; null if there is none, or if another host of the domain has set a second one. */
function readCookie({ headers: { cookie = '' } }: IncomingMessage, name: string): string | null {
  const pairs = cookie.split(';').map((part) => part.trim().split('='));
  const [pair, ...others] = pairs.filter(([each]) => each === name);
  return (others.length === 0 && pair?.[1]) || null;
}

function pageRoutes(path: string, publicUrl: string): Route[] {
  const sockets = new URL('/', publicUrl).origin.replace(/^http/, 'ws');
  const files = filesRoute({
    prefix: '/console',
    folder: widgetPath('dist/console/'),
    headers: (file) => ({
      'cache-control': file.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(file.endsWith('.html')
        ? {
            'content-security-policy': pagePolicy(sockets),
            'cross-origin-opener-policy': 'same-origin',
            'referrer-policy': 'same-origin',
            'x-robots-tag': 'noindex',
          }
        : {}),
    }),
  });
  const pageName = new RegExp(`^/(?:${PAGES.join('|')})(?<id>/[^/]+)?$`);
  return [
    {
      methods: ['GET', 'HEAD'],
      path: /^\/console$/,
      // The links of the page are relative, so that a path of PUBLIC_URL may precede them.
      handle: ({ url, response }) => send(response, 308, '', { location: `${path}/${url.search}` }),
    },
    {
      ...files,
      handle: (context) => {
        const page = pageName.exec(context.params.name ?? '');
        // The document of one resource names its files from the level below.
        const name = page?.groups?.id === undefined ? '/' : '/one/';
        return files.handle(page ? { ...context, params: { name } } : context);
      },
    },
  ];
}
