import { lookup as dnsLookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/state/db/database.ts';
import { endpointStatusOf } from '../../server/src/webhooks/endpoints.ts';
import { createSender, type Send } from '../../server/src/webhooks/sender.ts';
import { approved } from '../support/cards.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { type Core, startCore } from '../support/core.ts';
import { openFreshDatabase } from '../support/database.ts';
import { startReceiver } from '../support/receiver.ts';

const PAID = 'card_payment.paid';
const HOUR_MS = 3_600_000;
const NOWHERE = 'nowhere.example';
const INSIDE = '10.0.0.1';

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

/** A cause for which a shop does not get the webhook of a paid payment. */
interface Cause {
  /** Plants it in a new account, and returns what follows the payment, if that is not only the first attempt. */
  plant(core: Core): Promise<unknown>;
  /** The traces of it in the log. */
  shows: Partial<Shown>;
  /** The words by which the guide's table names it. */
  guide: string;
}

interface Shown {
  endpoint: string;
  isSelected: boolean;
  delivery: string;
  isAtUrlOfToday: boolean;
  attempts: number;
  status: number | null;
  error: string | null;
  hasHeaders: boolean;
  body: string | null;
}

const answered = (code: number, body = '', headers = {}) =>
  startReceiver((response) =>
    response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(body),
  );
const configure = (core: Core, url: string) => core.webhooks.configure(core.tenant, { url });
const further = (core: Core, url: string, events?: string[]) =>
  core.webhookEndpoints.create(core.tenant, { url, events });

/** An answer by which the attempt fails. */
const refused = (code: number, body: string, headers = {}): Pick<Cause, 'plant'> & { shows: object } => ({
  plant: async (core) => configure(core, (await answered(code, body, headers)).url),
  shows: { delivery: 'pending', attempts: 1, status: code, body: body || null },
});

/** A URL at which nothing answers. */
const silent = (url: () => Promise<string>) => ({
  plant: async (core: Core) => configure(core, await url()),
  shows: { delivery: 'pending', attempts: 1, status: null, hasHeaders: false },
});

const CAUSES: Record<string, Cause> = {
  'no URL is set': {
    plant: async () => undefined,
    shows: { endpoint: 'none', delivery: 'none' },
    guide: 'no delivery, and `webhookEndpoint` is null',
  },
  'the URL is switched off': {
    plant: async (core) =>
      core.webhooks.configure(core.tenant, { url: (await startReceiver()).url, enabled: false }),
    shows: { endpoint: 'disabled', delivery: 'none' },
    guide: '`enabled: false`',
  },
  'the event is not selected': {
    plant: async (core) => further(core, (await startReceiver()).url, ['refund.completed']),
    shows: { endpoint: 'enabled', isSelected: false, delivery: 'none' },
    guide: 'it is not among `optionalEvents`, or not among the `events` of the endpoint',
  },
  'the URL was changed afterwards': {
    plant: async (core) => {
      await configure(core, (await answered(200)).url);
      return async () => {
        await core.work.settled();
        return configure(core, (await answered(200)).url);
      };
    },
    shows: { delivery: 'delivered', isAtUrlOfToday: false, status: 200, error: null },
    guide: 'another `url` than today’s',
  },
  'the endpoint has failed for days': {
    plant: async (core) => {
      await further(core, (await answered(200)).url);
      await sql`
        update webhook_endpoint set further = jsonb_set(further, '{0,disabledAt}', '"2026-03-01T12:00:00.000Z"')
        where account_id = ${core.tenant.accountId}`.execute(database.sql);
    },
    shows: { endpoint: 'disabled_by_failures', delivery: 'held', attempts: 0 },
    guide: '`HELD`',
  },
  'the endpoint was deleted': {
    plant: async (core) => {
      const { endpointId } = await further(core, (await answered(500)).url);
      return async () => {
        await core.work.settled();
        await core.webhookEndpoints.delete(core.tenant, endpointId);
        await core.work.settled();
      };
    },
    shows: { endpoint: 'none', delivery: 'canceled' },
    guide: '`CANCELED`',
  },
  'a wrong path': { ...refused(404, 'Cannot POST /hook'), guide: '`the receiver answered 404`' },
  'a handler that fails': { ...refused(500, 'TypeError'), guide: '`the receiver answered 500`' },
  'another secret': { ...refused(401, 'bad signature'), guide: '`the receiver answered 401`' },
  'a proxy that refuses the body': { ...refused(413, 'Too Large'), guide: '`the receiver answered 413`' },
  'a redirect': {
    ...refused(301, '', { location: 'https://www.shop.example/hook' }),
    guide: '`the receiver answered 301, and a redirect is not followed`',
  },
  'given up': {
    plant: async (core) => {
      await configure(core, (await answered(503, 'maintenance')).url);
      return () => core.pass(9 * HOUR_MS);
    },
    shows: { delivery: 'exhausted', attempts: 7, status: 503, body: 'maintenance' },
    guide: '`EXHAUSTED`',
  },
  'a host without a name': {
    ...silent(async () => `http://${NOWHERE}/hook`),
    guide: '`the name of the host could not be resolved`',
  },
  'a server that is down': {
    ...silent(async () => {
      const receiver = await startReceiver();
      await receiver.shut();
      return receiver.url;
    }),
    guide: '`the connection was refused`',
  },
  'no TLS': {
    ...silent(async () => (await startReceiver()).url.replace('http:', 'https:')),
    guide: '`no secure connection could be made',
  },
  'an address inside a network': {
    ...silent(async () => `https://${INSIDE}/hook`),
    guide: '`the URL does not lead to a public https address`',
  },
  'a server that hangs': {
    plant: async (core) => {
      const receiver = await startReceiver(() => undefined);
      const came = receiver.next();
      await configure(core, receiver.url);
      return async () => {
        await came;
        core.clock.advance(5_000);
        await core.work.settled();
      };
    },
    shows: { delivery: 'pending', attempts: 1, status: null, hasHeaders: false },
    guide: '`no complete answer within 5 seconds`, without',
  },
};

test('No two planted causes look alike in the log, and the guide names each', async () => {
  const guide = readFileSync(new URL('../../server/docs/guide.md', import.meta.url), 'utf8');
  const all = new Map<string, string>();
  for (const [name, { plant, shows, guide: words }] of Object.entries(CAUSES)) {
    const clock = createManualClock();
    const core = await startCore({ database, clock, follows: false, send: () => senderOf(clock) });
    const then = await plant(core);
    const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4_990 });
    await core.cardPayments.pay(payment.orderCode, approved());
    await (typeof then === 'function' ? then() : core.work.settled());
    const shown = await read(core, payment.orderCode);
    expect(shown, name).toMatchObject(shows);
    const error = /^`(the |no )/.test(words) ? words.replace(/^`|`.*$/g, '') : shown.error;
    if (error) expect(shown.error, name).toContain(error);
    expect(guide, name).toContain(words);
    all.set(JSON.stringify(shown), name);
    expect(core.faults, name).toEqual([]);
  }
  expect([...all.values()]).toEqual(Object.keys(CAUSES));
});

/** Reads what a merchant sees of a payment's webhook. */
async function read(core: Core, orderCode: string): Promise<Shown> {
  const { tenant, webhooks } = core;
  const [endpoint] = await core.webhookEndpoints.list(tenant);
  const { items } = await webhooks.list(tenant, {
    end: 'first',
    limit: 9,
    reference: orderCode,
    event: [PAID],
  });
  const delivery = items[0]?.delivery;
  const webhookId = delivery?.webhookId ?? '';
  const [[attempts = []], [exchanges]] = await Promise.all([
    webhooks.attemptsOf(tenant, [webhookId]),
    webhooks.exchangesOf(tenant, [webhookId]),
  ]);
  const last = attempts.at(-1);
  const exchange = last && exchanges?.get(last.number);
  return {
    endpoint: endpoint ? endpointStatusOf(endpoint) : 'none',
    isSelected: Boolean(
      endpoint && (endpoint.isOfAccount || /card_payment\.paid|\*/.test(endpoint.events.join())),
    ),
    delivery: delivery?.status ?? 'none',
    isAtUrlOfToday: delivery?.url === endpoint?.url,
    attempts: attempts.length,
    status: last?.responseStatus ?? null,
    error: last?.error ?? null,
    hasHeaders: Boolean(exchange?.responseHeaders),
    body: exchange?.responseBody ?? null,
  };
}

const lookup: LookupFunction = (hostname, options, callback) =>
  hostname === NOWHERE
    ? callback(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }), '', 4)
    : dnsLookup(hostname, options, callback as never);

/** Sends as on a laptop, where receivers have addresses of this machine, but for one address. */
function senderOf(clock: ManualClock): Send {
  const local = createSender({ clock, privateAddresses: true, lookup });
  const strict = createSender({ clock, privateAddresses: false });
  return (message) => (new URL(message.url).hostname === INSIDE ? strict : local)(message);
}
