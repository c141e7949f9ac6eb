import { z } from 'zod';
import { permissionsFor } from '../../kernel/caller.ts';
import { CODE_ROWS, RETRIES } from '../../kernel/error-codes.ts';
import type { WebhookEvent } from '../../kernel/webhook-event.ts';
import { fileFormOf } from './file-bodies.ts';
import { closeObject } from './known-members.ts';
import { originOf } from './origins.ts';
import { type RestOperation, takesKey } from './rest.ts';

type Json = Record<string, unknown>;

const INTEGER = { type: 'integer', format: 'int64' };

/** The version of the interface, the document's section 9; not that of this program. */
const INTERFACE_VERSION = '1.0.0';

const INTRODUCTION = `
Every request carries an API key: \`Authorization: Bearer ps_live_…\`, or \`ps_test_…\` for the sandbox. The key selects the
environment; what belongs to the other one is not found.

- Fields whose names end in \`Cents\` are integers in cents of BRL. \`amount\`, and what the wallet names without \`Cents\`, is
  in reais with at most two decimals.
- Instants are ISO 8601 in UTC, with milliseconds.
- Lists take \`limit\` (1 to 100, 50 where left out) and \`offset\`, and answer \`total\` beside them. Their other parameters select: an item
  fulfills all of them.
- An account may send 120 requests a minute, which the \`RateLimit-*\` headers count.
- Every error is \`{ "error": "…", "code": "…", "retryPolicy": "…" }\`. Go by \`code\` and \`retryPolicy\`: the words may change, and later
  versions add members.
- A body is JSON, of at most 64 kB. The files of disputes are sent and answered as they are.
- Members of a body and query parameters that are not described here are refused with 400, and so is a member that stands twice.
- \`x-psa-origin\` of an operation: \`document\`, the payments service's document names it; \`decided\`, its text needs it, and the shape
  is this server's; \`extension\`, this server has it besides.
- \`x-psa-optional\` of a webhook: whether it is sent only to accounts that have opted into it.
`.trim();

/** An event that the server sends. */
export interface DescribedWebhook extends WebhookEvent {
  event: string;
}

/**
 * Makes the OpenAPI 3.1 description of these operations and events from the schemas that validate and encode the former,
 * and with which the tests compare every delivery of the latter.
 */
export function describeOperations(
  operations: readonly RestOperation[],
  publicUrl: string,
  webhooks: readonly DescribedWebhook[] = [],
): Json {
  const named: Json = {};
  const paths: Record<string, Json> = {};
  for (const operation of operations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, named),
    };
  return {
    openapi: '3.1.1',
    info: {
      title: 'PSA payments',
      version: INTERFACE_VERSION,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [
      ...new Set([...operations.map(({ tag }) => tag), ...(webhooks.length > 0 ? [WEBHOOKS_TAG] : [])]),
    ].map((name) => ({ name, description: TAGS[name] })),
    paths,
    ...(webhooks.length > 0 && {
      webhooks: Object.fromEntries(
        webhooks.map((webhook) => [webhook.event, describeWebhook(webhook, named)]),
      ),
    }),
    components: {
      schemas: { Error: ERROR, ...named },
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([name, { description, headers }]) => [
          name,
          refused(description, headers),
        ]),
      ),
      headers: {
        ...RATE_HEADERS,
        'Retry-After': { description: 'Seconds to wait', schema: INTEGER },
        'X-Error-Code': {
          description: 'Names the refusal, as `code` in the body and `extensions.code` in GraphQL do',
          schema: { type: 'string' },
        },
        'Idempotent-Replayed': {
          description: 'Present where the key was used before, so that nothing was done now',
          schema: { type: 'string', const: 'true' },
        },
      },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `ps_live_…` or `ps_test_…`' },
      },
    },
  };
}

function describe(operation: RestOperation, named: Json): Json {
  const { operationId, summary, description, tag, right, params, query, body, example } = operation;
  const permissions = right ? permissionsFor(right) : [];
  const needs = permissions.length
    ? `A restricted key needs one of: ${permissions.map((permission) => `\`${permission}\``).join(', ')}.`
    : 'Needs an unrestricted key.';
  return {
    operationId,
    summary,
    description: description ? `${description}\n\n${needs}` : needs,
    tags: [tag],
    'x-psa-origin': originOf(operation),
    parameters: [
      ...parametersOf(params, 'path', named),
      ...parametersOf(query, 'query', named),
      ...(takesKey(operation) ? [fileFormOf(body) ? KEY_OF_FILE : KEY_HEADER] : []),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: contentOf(body, named, describeInput, example && { example }),
      },
    }),
    responses: { ...answersOf(operation, named), ...refusalsOf(operation) },
  };
}

/** The content of a body: of JSON, or a file of any of its types. */
function contentOf(body: z.ZodType, named: Json, override?: Override, example: Json = {}): Json {
  const form = fileFormOf(body);
  if (!form) return { 'application/json': { schema: toJsonSchema(body, named, override), ...example } };
  return Object.fromEntries(form.mediaTypes.map((type) => [type, { schema: BINARY }]));
}

/** The schema of a file. OpenAPI 3.1 needs none, but generators take a file without it for text. */
const BINARY = { type: 'string', format: 'binary' };

const WEBHOOKS_TAG = 'Webhooks';

/** The text of each group of operations. */
const TAGS: Readonly<Record<string, string>> = {
  'Card payments': 'Payments by card on a hosted page.',
  Charges: 'Charges by PIX without customer, product and order, also split between subaccounts.',
  Deliveries: 'Content of products: texts, links and stocks of codes that payers get.',
  Disputes: 'Claims of payers’ banks, with evidence.',
  Payments: 'Payments by PIX and LTC.',
  Payouts: 'Withdrawals from the main account.',
  Products: 'What the account sells, and the products of the chat platform’s store.',
  Refunds: 'Money given back to payers, and money that did not pay and is sent back.',
  Sales: 'Card payments, payments and charges in one list.',
  Sandbox: 'Test payments, which feed the balance of the sandbox and play the payer.',
  Subaccounts: 'Balances that the account keeps for others: their statements, transfers and payouts.',
  Subscriptions: 'Recurring PIX and its cycles.',
  Wallet: 'The balances of the account.',
  'Webhook endpoint': 'The address of the account’s webhooks, and the optional events that it gets.',
  [WEBHOOKS_TAG]: 'The events that this server sends to your addresses.',
};

function describeWebhook({ event, optional, summary, body }: DescribedWebhook, named: Json): Json {
  // card_payment.paid: CardPaymentPaidEvent
  const words = event.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const name = `${words}Event`;
  named[name] = toJsonSchema(body, named);
  return {
    post: {
      operationId: `on${words}`,
      summary,
      description:
        optional !== null
          ? 'Sent to accounts that have opted into it, with `optionalEvents` of `configureWebhook`.'
          : 'Sent to every account with a URL for events.',
      'x-psa-optional': optional !== null,
      tags: [WEBHOOKS_TAG],
      security: [],
      parameters: WEBHOOK_HEADERS.map(([header, required, description]) => ({
        name: header,
        in: 'header',
        required,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
      },
      responses: {
        '2XX': { description: 'Delivered. Any other answer, or none within 5 seconds, is another attempt' },
      },
    },
  };
}

const WEBHOOK_HEADERS: readonly [name: string, required: boolean, description: string][] = [
  [
    'X-Webhook-Id',
    true,
    'The `id` of the body. Names the delivery: the same on each attempt. Deduplicate by it',
  ],
  [
    'X-Webhook-Signature',
    true,
    'Hex of HMAC-SHA256 over the body, keyed with the newest secret as it stands',
  ],
  [
    'X-Webhook-Resource-Version',
    false,
    'The `version` of the body: grows with each change of the resource. Compare `delivery.*` by `deliveryId` and `of.id`',
  ],
  ['X-Webhook-Occurred-At', false, 'The `occurredAt` of the body: when the change happened'],
  ['webhook-id', true, 'The same as X-Webhook-Id, for the libraries of Standard Webhooks'],
  ['webhook-timestamp', true, 'The second of this attempt'],
  [
    'webhook-signature',
    true,
    'One `v1,…` for each secret that is valid, separated by spaces: the newest first, then those of before while they are valid, three at most',
  ],
];

const KEY_HEADER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'In place of `idempotencyKey` in the body. A replayed answer says `Idempotent-Replayed: true`. Optional in REST, as in the document; give one wherever money leaves, as GraphQL requires.',
  schema: { type: 'string' },
};

const KEY_OF_FILE = {
  ...KEY_HEADER,
  description:
    'The same key and file upload once. Without a key the same bytes do. A replayed answer says `Idempotent-Replayed: true`.',
};

function parametersOf(fields: z.ZodObject | undefined, place: 'path' | 'query', named: Json): Json[] {
  return Object.entries(fields?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = toJsonSchema(field as z.ZodType, named);
    return {
      name,
      in: place,
      required: place === 'path' || !(field as z.ZodType).safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      // Several words are one text, divided by commas.
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      schema,
    };
  });
}

function answersOf(operation: RestOperation, named: Json): Json {
  const headers = {
    ...RATE_HEADER_REFERENCES,
    ...(takesKey(operation) && referencesTo('Idempotent-Replayed')),
  };
  return Object.fromEntries(
    Object.entries(operation.answers as Record<string, { description: string; schema: z.ZodType }>).map(
      ([status, { description, schema }]) => [
        status,
        {
          description,
          headers,
          content: contentOf(schema, named),
        },
      ],
    ),
  );
}

/** The refusals of an operation: its own, and those of every operation with such a request. */
function refusalsOf({ body, errors = {} }: RestOperation): Json {
  const common: Partial<Record<number, keyof typeof REFUSALS>> = {
    400: 'Invalid',
    401: 'Unauthenticated',
    403: 'Forbidden',
    ...(body && !fileFormOf(body) ? { 413: 'TooLarge' } : {}),
    429: 'TooManyRequests',
    500: 'Fault',
    503: 'Unavailable',
    504: 'OutcomeUnknown',
  };
  return {
    ...Object.fromEntries(
      Object.entries(common).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
    ),
    ...Object.fromEntries(
      Object.entries(errors).map(([status, text]) => {
        const name = common[Number(status)];
        const { description, headers } = name ? REFUSALS[name] : { headers: RATE_HEADER_REFERENCES };
        return [status, refused(description ? `${text}; or: ${description}` : text, headers)];
      }),
    ),
  };
}

type Override = (part: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }) => void;

/** The JSON schema of the input of a codec, which is the form that clients send and get. Schemas with an id go into `named`. */
function toJsonSchema(schema: z.ZodType, named: Json, override: Override = keepDefault): Json {
  const {
    $schema: _,
    $defs = {},
    ...json
  } = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io: 'input', override })).replaceAll(
      '"#/$defs/',
      '"#/components/schemas/',
    ),
  ) as Json & { $defs?: Json };
  Object.assign(named, $defs);
  return json;
}

/** Describes a part of a request's body: its objects are closed. Those of answers are open, because later versions add members. */
function describeInput(part: Parameters<Override>[0]): void {
  keepDefault(part);
  closeObject(part);
}

/**
 * Adds the default of `meta`: Zod leaves out the default of a transformed value, because it is one of the output. An integer gets
 * its format: without one, generators of typed languages take 32 bits, which end at R$ 21 million in cents.
 */
function keepDefault({ zodSchema, jsonSchema }: Parameters<Override>[0]): void {
  const { default: initial } = z.globalRegistry.get(zodSchema) ?? {};
  if (initial !== undefined) jsonSchema.default = initial;
  if (jsonSchema.type === 'integer') jsonSchema.format ??= INTEGER.format;
}

// ── Parts of all responses ───────────────────────────────────────────────────────────────────────

/** Open to members that later versions add. `code` and `retryPolicy` are texts and no enums, because new values come, too. */
const ERROR = {
  type: 'object',
  properties: {
    error: { type: 'string', description: 'For people; the words may change' },
    code: { type: 'string', description: listed('The reason, as `X-Error-Code`', codesOfRest()) },
    retryPolicy: {
      type: 'string',
      description: listed(
        'Whether, when and with which idempotency key the request is sent again; treat an unknown value as `NEVER`',
        Object.entries(RETRIES),
      ),
    },
    retryAfterSeconds: { type: 'integer', description: 'As `Retry-After`; absent if it is not known' },
    lookupReference: {
      type: 'string',
      description: 'The reference by which to look up an unknown outcome; absent if there is none',
    },
    fields: {
      type: 'array',
      description: 'Every wrong member of the request, with `BAD_USER_INPUT`; absent if none is named',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'The place of the member, such as `customer.email`' },
          message: { type: 'string', description: 'What the member must be; the words may change' },
        },
        required: ['path', 'message'],
      },
    },
  },
  required: ['error', 'code', 'retryPolicy'],
};

function codesOfRest(): [code: string, meaning: string][] {
  const ofRest = CODE_ROWS.filter(([, { only }]) => only !== 'GraphQL');
  return ofRest.map(([code, { meaning, retry }]) => [code, `${meaning} (${retry})`]);
}

function listed(text: string, values: readonly (readonly [name: string, meaning: string])[]): string {
  return [`${text}:`, ...values.map(([name, meaning]) => `- \`${name}\`: ${meaning}`)].join('\n');
}

const RATE_HEADERS = {
  'RateLimit-Limit': { description: 'Requests a minute of the account', schema: INTEGER },
  'RateLimit-Remaining': { description: 'Requests left of them', schema: INTEGER },
  'RateLimit-Reset': { description: 'Seconds until all are there again', schema: INTEGER },
};

const RATE_HEADER_REFERENCES = referencesTo(...Object.keys(RATE_HEADERS));

function referencesTo(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const REFUSALS = {
  Invalid: {
    description: 'The body is not a JSON object, or a field or a parameter is wrong: the message names it',
    headers: RATE_HEADER_REFERENCES,
  },
  Unauthenticated: {
    description: 'The API key is missing or invalid',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  },
  Forbidden: { description: 'The API key lacks a permission', headers: RATE_HEADER_REFERENCES },
  TooLarge: { description: 'The body has more than 64 kB', headers: RATE_HEADER_REFERENCES },
  TooManyRequests: {
    description: 'The account has sent more than its requests a minute',
    headers: { ...RATE_HEADER_REFERENCES, ...referencesTo('Retry-After') },
  },
  Fault: { description: 'Internal error', headers: RATE_HEADER_REFERENCES },
  Unavailable: {
    description: 'Unavailable for the moment, and nothing was done: repeat it with the same idempotency key',
    headers: referencesTo('Retry-After'),
  },
  OutcomeUnknown: {
    description:
      'Unavailable for the moment, and it may have been done: repeat it with the same idempotency key',
    headers: RATE_HEADER_REFERENCES,
  },
};

function refused(description: string, headers: Json): Json {
  return {
    description,
    headers: { ...headers, ...referencesTo('X-Error-Code') },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}
