import { z } from 'zod';
import { type Administration, type ApiKey, createKeyInput, MAX_ACTIVE_KEYS } from '../../access/keys.ts';
import { type AccessService, isTokenId, type ListedToken, tokenStatus } from '../../access/model.ts';
import type { Route } from '../../api/http/routes.ts';
import type { SameOrigin } from '../../api/http/same-origin.ts';
import { PERMISSIONS } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CursorsFor } from '../../kernel/cursor.ts';
import { NotFoundError, PreconditionError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText, plainText } from '../../kernel/text.ts';
import type { WebhookRedeliveryService } from '../../webhooks/bulk.ts';
import type { ConfiguredWebhook, WebhookEndpointService } from '../../webhooks/endpoints.ts';
import { WEBHOOK_DELIVERY_STATUSES, type WebhookService } from '../../webhooks/model.ts';
import type { WebhookTestService } from '../../webhooks/tests.ts';
import { type Actions, confirmed } from './actions.ts';

/** The operations behind the page for developers. */
export interface DeveloperOperations {
  access: Pick<AccessService, 'listTokens' | 'revokeToken'>;
  /** Null in front of another service, whose keys come from the configuration. */
  keys: Pick<Administration, 'createKey' | 'listKeys' | 'revokeKey'> | null;
  webhooks: Pick<WebhookService, 'configure' | 'redeliver'>;
  webhookEndpoints: Pick<WebhookEndpointService, 'create' | 'update' | 'delete'>;
  webhookTests: WebhookTestService;
  webhookRedeliveries: Pick<WebhookRedeliveryService, 'request'>;
}

const PAGE_OF_TOKENS = 20;
const id = plainText({ max: 100 });
const names = z.array(z.string()).max(100, 'must name at most 100 events').optional();

const noInput = z.object({});
const newKeyInput = createKeyInput.pick({ permissions: true, name: true }).extend(confirmed);
const revokeKeyInput = z.object({ ...confirmed, keyId: id });
const listTokensInput = z.object({
  /** The cursor of the last token that was read. */
  after: z.string().optional(),
  ended: z.boolean().optional(),
});
const revokeTokenInput = z.object({
  tokenId: z.string().refine(isTokenId, 'must be tok_ and 24 hex digits'),
});
const newEndpointInput = z.object({ ...confirmed, url: z.string(), events: names });
const changeEndpointInput = z.object({
  ...confirmed,
  /** Null for the URL of the account. */
  endpointId: id.nullable(),
  url: z.string().optional(),
  enabled: z.boolean().optional(),
  /** The names of the events; for the URL of the account of the optional ones alone. */
  events: names,
  rotateSecret: z.boolean().optional(),
});
const deleteEndpointInput = z.object({ endpointId: id });
const testInput = z.object({ event: id, endpointId: id });
const redeliverInput = z.object({ webhookId: id });
const redeliverAllInput = z.object({
  status: z.array(z.enum(WEBHOOK_DELIVERY_STATUSES)).optional(),
  endpointId: id.optional(),
  reference: id.optional(),
  idempotencyKey: idempotencyKeyText,
});

/** The routes of the page for developers: keys, tokens and webhooks, for sessions of unrestricted keys. */
export function createDeveloperRoutes({
  operations,
  sameOrigin: { action },
  actions: { admit, admitWithKey, recorded },
  requestsToday,
  cursorsFor,
  clock,
}: {
  /** Creates the operations of one request. */
  operations: () => DeveloperOperations;
  sameOrigin: SameOrigin;
  actions: Actions;
  requestsToday: (accountId: string) => Promise<number>;
  cursorsFor: CursorsFor;
  clock: Clock;
}): Route[] {
  /** @throws PreconditionError in front of another service */
  function keysHere() {
    const { keys } = operations();
    if (!keys)
      throw new PreconditionError('NOT_OFFERED', 'The keys of this server come from its configuration');
    return keys;
  }

  /** The active keys of one environment, which are the only ones that its sessions see. */
  async function keysOf({ accountId, environment }: Tenant): Promise<ApiKey[]> {
    const { keys } = await keysHere().listKeys({ accountId, revokedToo: false });
    return keys.filter((key) => key.environment === environment);
  }

  return [
    action(/^\/console\/keys$/, noInput, async (_, context) => {
      const { tenant, session, ...actor } = await admit(context);
      const requests = { ...actor.requests, today: await requestsToday(tenant.accountId) };
      const keys = operations().keys && (await keysOf(tenant)).map(shownKey);
      const ownKeyId = session?.key.id ?? null;
      return { body: { keys, mostKeys: MAX_ACTIVE_KEYS, permissions: PERMISSIONS, ownKeyId, requests } };
    }),
    action(/^\/console\/keys\/new$/, newKeyInput, async ({ key, permissions, name }, context) => {
      const actor = await admitWithKey(context, key);
      // The text of the new key is in the answer alone: what is recorded has its id.
      let secret = '';
      const body = await recorded(actor, 'new key', { permissions }, async () => {
        const created = await keysHere().createKey({ ...actor.tenant, permissions, name });
        secret = created.secret;
        return { newKeyId: created.key.id };
      });
      return { status: 201, body: { ...body, secret } };
    }),
    action(/^\/console\/keys\/revoke$/, revokeKeyInput, async ({ key, keyId: revokedKeyId }, context) => {
      const actor = await admitWithKey(context, key);
      const body = await recorded(actor, 'revoked key', { revokedKeyId }, async () => {
        const own = (await keysOf(actor.tenant)).some(({ id }) => id === revokedKeyId);
        if (!own) throw new NotFoundError('API key not found');
        await keysHere().revokeKey({ id: revokedKeyId });
        return { revokedKeyId };
      });
      return { body };
    }),

    action(/^\/console\/tokens$/, listTokensInput, async ({ after, ended }, context) => {
      const { tenant } = await admit(context);
      const cursors = cursorsFor(tenant, 'console tokens');
      const position = after === undefined ? undefined : cursors.decode(after);
      if (position === null)
        throw new ValidationError([{ path: 'after', message: 'must be a cursor of this list' }]);
      const range = { end: 'first', limit: PAGE_OF_TOKENS, after: position } as const;
      const { items, more } = await operations().access.listTokens(tenant, { ...range, ended });
      const last = more ? items.at(-1) : undefined;
      return {
        body: {
          tokens: items.map(({ token }) => shownToken(token, clock.now())),
          next: last ? cursors.encode(last.position) : null,
        },
      };
    }),
    action(/^\/console\/tokens\/revoke$/, revokeTokenInput, async ({ tokenId }, context) => {
      const actor = await admit(context);
      const body = await recorded(actor, 'revoked token', { tokenId }, () =>
        operations().access.revokeToken(actor.tenant, tokenId),
      );
      return { body };
    }),

    action(/^\/console\/endpoints$/, newEndpointInput, async ({ key, url, events }, context) => {
      const actor = await admitWithKey(context, key);
      const created = await recordedEndpoint('new endpoint', {}, actor, () =>
        operations().webhookEndpoints.create(actor.tenant, { url, events }),
      );
      return { status: 201, body: created };
    }),
    action(/^\/console\/endpoints\/change$/, changeEndpointInput, async ({ key, ...input }, context) => {
      const actor = await admitWithKey(context, key);
      const { endpointId, events, ...changes } = input;
      const body = await recordedEndpoint('changed endpoint', { endpointId }, actor, () => {
        const { webhooks, webhookEndpoints } = operations();
        return endpointId === null
          ? webhooks.configure(actor.tenant, { ...changes, optionalEvents: events })
          : webhookEndpoints.update(actor.tenant, { ...changes, endpointId, events });
      });
      return { body };
    }),
    action(/^\/console\/endpoints\/delete$/, deleteEndpointInput, async ({ endpointId }, context) => {
      const actor = await admit(context);
      const body = await recorded(actor, 'deleted endpoint', { endpointId }, async () => {
        await operations().webhookEndpoints.delete(actor.tenant, endpointId);
        return { endpointId };
      });
      return { body };
    }),

    action(/^\/console\/webhooks\/test$/, testInput, async (input, context) => {
      const actor = await admit(context);
      let sent: object = {};
      await recorded(actor, 'test webhook', input, async () => {
        const { payload, attempt } = await operations().webhookTests.send(actor.tenant, input);
        const { responseStatus, durationMs, error } = attempt;
        sent = {
          payload,
          responseStatus,
          durationMs,
          error,
          responseBody: attempt.exchange?.responseBody ?? null,
        };
        return { responseStatus };
      });
      return { body: sent };
    }),
    action(/^\/console\/webhooks\/redeliver$/, redeliverInput, async ({ webhookId }, context) => {
      const actor = await admit(context);
      const body = await recorded(actor, 'redelivery', { webhookId }, async () => {
        const { status } = await operations().webhooks.redeliver(actor.tenant, webhookId);
        return { webhookId, status };
      });
      return { body };
    }),
    action(/^\/console\/webhooks\/redeliver-all$/, redeliverAllInput, async (input, context) => {
      const actor = await admit(context);
      const { idempotencyKey, ...filter } = input;
      // A reference may be any text that the user has typed, such as a name.
      const { reference: _, ...details } = input;
      const body = await recorded(actor, 'redelivery of many', details, async () => {
        const { redelivery, replayed } = await operations().webhookRedeliveries.request(actor.tenant, {
          ...{ filter, idempotencyKey },
        });
        return { redeliveryId: redelivery.redeliveryId, total: redelivery.total, replayed };
      });
      return { status: 201, body };
    }),
  ];

  /** Records a change of an endpoint. A secret that it has made is in the answer alone. */
  async function recordedEndpoint(
    what: string,
    details: object,
    actor: Parameters<typeof recorded>[0],
    change: () => Promise<ConfiguredWebhook>,
  ) {
    let secret: string | null = null;
    const body = await recorded(actor, what, details, async () => {
      const endpoint = await change();
      secret = endpoint.secret;
      return { endpointId: endpoint.endpointId };
    });
    return { ...body, secret };
  }
}

function shownKey({ id: keyId, name, permissions, hint, createdAt }: ApiKey) {
  return { keyId, name, permissions, hint, createdAt };
}

function shownToken(token: ListedToken, now: Date) {
  const { tokenId, kind, createdAt, expiresAt, revokedAt, allowedOrigins, grant } = token;
  return {
    ...{ tokenId, kind, createdAt, expiresAt, revokedAt, allowedOrigins, status: tokenStatus(token, now) },
    ofConsole: token.sessionId != null,
    scopes: 'scopes' in grant ? grant.scopes : null,
  };
}
