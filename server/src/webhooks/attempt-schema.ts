import { builder } from '../api/graphql/builder.ts';
import type { Context } from '../api/graphql/context.ts';
import { addLoaders, type LoadersOf } from '../api/graphql/loaders.ts';
import { type Caller, callerOf, may } from '../kernel/caller.ts';
import { type MessageHeaders, withoutQueryValues } from './exchange.ts';
import type { WebhookAttempt } from './model.ts';

const loads = addLoaders({
  webhookExchanges: ({ webhooks }, tenant, webhookIds) => webhooks.exchangesOf(tenant, webhookIds),
});

declare module '../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

/** Whether a caller sees bodies and whole URLs: a body names destinations and customers, and an answer may repeat it. */
export const seesPayloads = (caller: Caller) => may(caller, 'webhooks.payloads');

/** A URL as a caller sees it. */
export const urlFor = (context: Context, url: string) =>
  seesPayloads(callerOf(context)) ? url : withoutQueryValues(url);

const HttpHeaderRef = builder.objectRef<MessageHeaders[number]>('HttpHeader').implement({
  description: 'A header of a request or of its answer.',
  fields: (t) => ({
    name: t.string({ description: 'The name in lower case.', resolve: ([name]) => name }),
    value: t.string({
      description:
        'The value; *** for a credential, a cookie, a signature, and for the values in the query of a URL.',
      resolve: ([, value]) => value,
    }),
  }),
});

const exchangeOf = async ({ webhookId, number, exchange }: WebhookAttempt, context: Context) =>
  exchange !== undefined
    ? exchange
    : ((await context.loaders.webhookExchanges.load(webhookId)).get(number) ?? null);

export const WebhookAttemptRef = builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
  description: 'One request of a delivery to its URL.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'The number of the attempt in its delivery, from 1.' }),
    at: t.expose('at', { type: 'DateTime', description: 'The time at which it was sent.' }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: 'The HTTP status of the response; null if there was none.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'The reason for the failure, in words; null if it was delivered.',
    }),
    durationMs: t.exposeInt('durationMs', {
      description: 'The milliseconds until the answer, or until the attempt was given up.',
    }),
    requestHeaders: t.field({
      type: [HttpHeaderRef],
      nullable: true,
      description:
        'The headers that were sent, at most 4,096 characters; null where no request was made, and before the last ten attempts.',
      resolve: async (attempt, _, context) => (await exchangeOf(attempt, context))?.requestHeaders ?? null,
    }),
    responseHeaders: t.field({
      type: [HttpHeaderRef],
      nullable: true,
      description:
        'The headers of the answer, at most 4,096 characters; null without an answer, and before the last ten attempts.',
      resolve: async (attempt, _, context) => (await exchangeOf(attempt, context))?.responseHeaders ?? null,
    }),
    responseBody: t.string({
      nullable: true,
      description:
        'The first 4,096 bytes of the answer, if it is text, JSON, XML or HTML and not compressed; credentials in it are ***. Null for another answer, before the last ten attempts, and without the permission `webhooks.payloads` or the scope WEBHOOK_PAYLOADS.',
      resolve: async (attempt, _, context) =>
        seesPayloads(callerOf(context)) ? ((await exchangeOf(attempt, context))?.responseBody ?? null) : null,
    }),
    responseBodyTruncated: t.boolean({
      description: 'Whether the answer was longer than 4,096 bytes; the rest was not read.',
      resolve: async (attempt, _, context) => (await exchangeOf(attempt, context))?.isBodyCut ?? false,
    }),
  }),
});
