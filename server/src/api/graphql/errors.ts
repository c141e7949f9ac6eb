import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import {
  describeOutage,
  type ErrorCode,
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  OUTAGE,
  OutageError,
  PaymentError,
  PermissionError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { ltcText } from '../../kernel/money.ts';
import { SlowConsumerError } from '../../state/events/subscription.ts';
import { retryHeaders } from '../http/routes.ts';
import { builder } from './builder.ts';
import { replaceError } from './failures.ts';
import { placeOf } from './literals.ts';

// ── As members of result unions ─────────────────────────────────────────────────────────────────

const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'The reason for which a mutation was refused. New reasons come with new releases: treat an unknown one by its type.',
  values: {
    VALIDATION: { description: 'ValidationError: `fields` names the wrong members.' },
    NOT_FOUND: { description: 'NotFoundError.' },
    PERMISSION_DENIED: { description: 'PermissionError.' },
    RATE_LIMITED: { description: 'RateLimitError: retry after retryAfterSeconds.' },
    INSUFFICIENT_FUNDS: { description: 'InsufficientFundsError.' },
    CARD_PAYMENTS_NOT_CONFIGURED: { description: 'UnavailableError: this account takes no cards.' },
    NOT_IN_SANDBOX: {
      description: 'UnavailableError: card payments and subaccount payouts need a live key.',
    },
    ONLY_IN_SANDBOX: { description: 'UnavailableError: test payments need a test key.' },
    LIMIT_REACHED: { description: 'UnavailableError: the account has reached a limit of number or amount.' },
    IDEMPOTENCY_CONFLICT: { description: 'IdempotencyError.' },
    CHECKOUT_TOKEN_USED: {
      description:
        'UnavailableError: the payment of a single-use token was canceled, or is open with another amount.',
    },
    CHECKOUT_TOKEN_PAUSED: {
      description:
        'UnavailableError: the merchant has paused this token, or this server was restored, and the token was minted before.',
    },
    ORDER_PAID: { description: 'UnavailableError: another payment of the same order was paid.' },
    ORDER_REFUNDED: {
      description:
        'UnavailableError: the order was paid, and its whole amount was refunded. It takes no other payment.',
    },
    NOT_CANCELABLE: {
      description:
        'UnavailableError: the payment is not PENDING; it has been paid, has expired or has failed.',
    },
    DISPUTE_STATE: {
      description:
        'UnavailableError: a bank claims the money back at this moment, or evidence comes too late.',
    },
    NOT_REFUNDABLE: {
      description: 'UnavailableError: the payment is not paid, is refunded already, or is too old.',
    },
    NOT_PAYABLE: {
      description: 'UnavailableError: the simulated payment has no code, or has ended.',
    },
    NOT_OFFERED: {
      description:
        'UnavailableError: the upstream service does not offer it, or not in a form that is known. Nothing was requested from it, or nothing was done.',
    },
    RECORDS_BEHIND: {
      description:
        'UnavailableError: this server was restored, and its records lack what came after the backup. Nothing was sent.',
    },
    PAYMENTS_NOT_CONFIGURED: {
      description: 'UnavailableError: this account takes no PIX, or no LTC.',
    },
    UPSTREAM_UNAVAILABLE: { description: 'UpstreamError.' },
  } as const,
});

const UserError = builder.interfaceRef<PaymentError>('UserError').implement({
  description:
    'An error that a caller can correct or must know. Every error member of a result union implements it.',
  fields: (t) => ({
    message: t.exposeString('message'),
    code: t.field({ type: ErrorCodeEnum, resolve: ({ code }) => code as typeof ErrorCodeEnum.$inferType }),
  }),
});

const FieldErrorRef = builder.objectRef<ValidationError['fields'][number]>('FieldError').implement({
  description: 'One wrong member of the input.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'The place of the member in the input, such as input.valueCents.',
    }),
    message: t.exposeString('message', {
      description: 'A sentence in English that says what the member must be.',
    }),
  }),
});

builder.objectType(ValidationError, {
  name: 'ValidationError',
  interfaces: [UserError],
  description: 'Members of the input are wrong; nothing was done.',
  fields: (t) => ({
    fields: t.field({
      type: [FieldErrorRef],
      description: 'Every wrong member, not the first alone.',
      resolve: (error) => [...error.fields],
    }),
  }),
});

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  interfaces: [UserError],
  description:
    'The resource that the input names does not exist, or belongs to another account or environment.',
});

builder.objectType(PermissionError, {
  name: 'PermissionError',
  interfaces: [UserError],
  description: 'The credential is not allowed to do this.',
  fields: (t) => ({
    requiresAnyOf: t.stringList({
      description:
        'The permissions, any one of them sufficient; empty if only an unrestricted key is sufficient.',
      resolve: (error) => [...error.requiresAnyOf],
    }),
  }),
});

builder.objectType(RateLimitError, {
  name: 'RateLimitError',
  interfaces: [UserError],
  description: 'The caller did too much in too short a time; nothing was done.',
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'The seconds after which a retry may succeed.',
    }),
    limit: t.exposeString('limit', { description: 'The name of the limit, in words.' }),
  }),
});

builder.objectType(InsufficientFundsError, {
  name: 'InsufficientFundsError',
  description:
    'The amount is more than can be withdrawn. The figures are those of the decision; for a subaccount’s payout they are the subaccount’s.',
  interfaces: [UserError],
  fields: (t) => ({
    requestedCents: t.expose('requestedCents', {
      type: 'Cents',
      description: 'The amount in cents that would have been needed.',
    }),
    withdrawableCents: t.expose('withdrawableCents', {
      type: 'Cents',
      description: 'The amount in cents that was available.',
    }),
    balanceCents: t.expose('balanceCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The gross balance in cents at that moment; for a subaccount, its balance. Null if it is not shown.',
    }),
    disputeBlockedCents: t.expose('disputeBlockedCents', {
      type: 'Cents',
      nullable: true,
      description: 'The part of the balance that disputes hold, in cents. Null if it is not shown.',
    }),
    subaccountsBalanceCents: t.expose('subaccountsBalanceCents', {
      type: 'Cents',
      nullable: true,
      description: 'The part of the balance that belongs to subaccounts, in cents. Null if it is not shown.',
    }),
    cryptoBalanceLtc: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The balance in LTC, which limits payouts with the method LTC.',
      resolve: ({ cryptoBalanceLitoshi }) =>
        cryptoBalanceLitoshi === null ? null : ltcText(cryptoBalanceLitoshi),
    }),
  }),
});

builder.objectType(UnavailableError, {
  name: 'UnavailableError',
  description: 'The environment, the account’s set-up or a limit prevents it.',
  interfaces: [UserError],
});

builder.objectType(IdempotencyError, {
  name: 'IdempotencyError',
  description: 'The same key was used before with another input.',
  interfaces: [UserError],
});

builder.objectType(UpstreamError, {
  name: 'UpstreamError',
  description:
    'The upstream service, which is the payments service behind this server, or a bank or network, did not answer. If moneyMayHaveMoved, do not repeat the request with a new key: look the payout up by lookupReference.',
  interfaces: [UserError],
  fields: (t) => ({
    retryable: t.exposeBoolean('retryable', {
      description: 'Whether the same request may be sent again, with the same idempotencyKey if it has one.',
    }),
    moneyMayHaveMoved: t.exposeBoolean('moneyMayHaveMoved', {
      description: 'Whether money may have moved: look it up before anything is done again.',
    }),
    lookupReference: t.exposeString('lookupReference', {
      nullable: true,
      description:
        'The reference by which `lookup(reference:)` finds the outcome; null if there is none: then look it up by the idempotencyKey of the request.',
    }),
  }),
});

// ── As top-level errors ─────────────────────────────────────────────────────────────────────────

type TopLevelCode =
  | 'BAD_USER_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'NOT_OFFERED'
  | 'RECORDS_BEHIND'
  | 'CURSOR_EXPIRED'
  | 'UPSTREAM_UNAVAILABLE';

/** A refusal of a whole request, at `status`. By `spec` that is 200 with the older media type, application/json. */
export function refusalOf(
  code: TopLevelCode | 'PERSISTED_QUERY_NOT_FOUND',
  message: string,
  status: number,
): GraphQLError {
  const refusal = new GraphQLError(message, { extensions: { code, http: { status, spec: true } } });
  translated.add(refusal);
  return refusal;
}

/** The top-level code and HTTP status of each error. Exhaustive: a code without them does not compile. */
const TOP_LEVEL: Record<ErrorCode, { code: TopLevelCode; status: number }> = {
  VALIDATION: { code: 'BAD_USER_INPUT', status: 400 },
  NOT_FOUND: { code: 'NOT_FOUND', status: 200 },
  UNAUTHENTICATED: { code: 'UNAUTHENTICATED', status: 401 },
  PERMISSION_DENIED: { code: 'FORBIDDEN', status: 403 },
  RATE_LIMITED: { code: 'RATE_LIMITED', status: 429 },
  INSUFFICIENT_FUNDS: { code: 'BAD_USER_INPUT', status: 200 },
  CARD_PAYMENTS_NOT_CONFIGURED: { code: 'FORBIDDEN', status: 200 },
  NOT_IN_SANDBOX: { code: 'FORBIDDEN', status: 200 },
  ONLY_IN_SANDBOX: { code: 'FORBIDDEN', status: 200 },
  LIMIT_REACHED: { code: 'FORBIDDEN', status: 200 },
  IDEMPOTENCY_CONFLICT: { code: 'BAD_USER_INPUT', status: 200 },
  CHECKOUT_TOKEN_USED: { code: 'FORBIDDEN', status: 200 },
  CHECKOUT_TOKEN_PAUSED: { code: 'FORBIDDEN', status: 200 },
  ORDER_PAID: { code: 'FORBIDDEN', status: 200 },
  ORDER_REFUNDED: { code: 'FORBIDDEN', status: 200 },
  NOT_CANCELABLE: { code: 'FORBIDDEN', status: 200 },
  NOT_REFUNDABLE: { code: 'FORBIDDEN', status: 200 },
  DISPUTE_STATE: { code: 'FORBIDDEN', status: 200 },
  NOT_PAYABLE: { code: 'FORBIDDEN', status: 200 },
  NOT_OFFERED: { code: 'NOT_OFFERED', status: 200 },
  RECORDS_BEHIND: { code: 'RECORDS_BEHIND', status: 200 },
  PAYMENTS_NOT_CONFIGURED: { code: 'FORBIDDEN', status: 200 },
  CURSOR_EXPIRED: { code: 'CURSOR_EXPIRED', status: 200 },
  UPSTREAM_UNAVAILABLE: { code: 'UPSTREAM_UNAVAILABLE', status: 200 },
};

/**
 * Translates an error for which no result union has a member. An error of GraphQL about the document or its variables stays,
 * because the caller can correct it. Any other error that is no domain error is an outage or a fault: it is passed to
 * `onFault` and shown as `UNAVAILABLE` or `Internal error`. A translated error is returned unchanged.
 */
export function toGraphQLError(error: unknown, onFault: (fault: unknown) => void): GraphQLError {
  const known = findTranslated(error);
  if (known) return known;
  const translation = translate(error, onFault);
  translated.add(translation);
  return error instanceof GraphQLError ? replaceError(error, translation) : translation;
}

/** The error as a WebSocket message or an event shows it, without the extensions for HTTP. */
export function messageOf(error: unknown, onFault: (fault: unknown) => void): GraphQLFormattedError {
  const { extensions: { http: _, ...extensions } = {}, ...rest } = toGraphQLError(error, onFault).toJSON();
  return { ...rest, extensions };
}

const translated = new WeakSet<GraphQLError>();

/** Finds a translated error inside the errors with which transports wrap it. */
function findTranslated(error: unknown): GraphQLError | null {
  for (let each = error; each instanceof GraphQLError; each = each.originalError)
    if (translated.has(each)) return each;
  return null;
}

const MAX_MESSAGE_LENGTH = 1_000;

function translate(error: unknown, onFault: (fault: unknown) => void): GraphQLError {
  const cause = error instanceof GraphQLError && error.originalError ? error.originalError : error;
  if (cause instanceof PaymentError) {
    const { code, status } = TOP_LEVEL[cause.code];
    const headers = {
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(cause instanceof RateLimitError ? { 'retry-after': String(cause.retryAfterSeconds) } : {}),
    };
    return new GraphQLError(cause.message, {
      ...locationOf(error),
      extensions: {
        code,
        ...(cause instanceof RateLimitError ? { retryAfterSeconds: cause.retryAfterSeconds } : {}),
        ...(cause instanceof ValidationError ? { fields: cause.fields } : {}),
        http: { status, headers },
      },
    });
  }
  // A WebSocket is closed with 1013 instead; an event stream ends with this error.
  if (cause instanceof SlowConsumerError)
    return new GraphQLError(cause.message, { originalError: cause, extensions: { code: 'SLOW_CONSUMER' } });
  if (error instanceof GraphQLError && cause instanceof GraphQLError && !isSerializationFault(error, cause)) {
    error.extensions.code = 'BAD_USER_INPUT';
    error.message = placeOf(error) + withoutValue(error.message, cause.message);
    // A message may repeat the whole input.
    if (error.message.length > MAX_MESSAGE_LENGTH)
      error.message = `${error.message.slice(0, MAX_MESSAGE_LENGTH)}…`;
    // Without a path no field has run. `spec`: with the older media type, application/json, the status is 200.
    if (!error.path) error.extensions.http ??= { status: 400, spec: true };
    // Yoga has put the error of JSON.parse here: 400 with either media type.
    if (error.extensions.originalError) error.extensions.http = { status: 400 };
    delete error.extensions.originalError;
    return error;
  }
  onFault(cause);
  if (cause instanceof OutageError) {
    const { message, status, retryAfterSeconds } = describeOutage(cause);
    const extensions = {
      code: OUTAGE,
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
      http: { status, headers: retryHeaders(cause) },
    };
    return new GraphQLError(message, { ...locationOf(error), extensions });
  }
  return new GraphQLError('Internal error', {
    ...locationOf(error),
    extensions: { code: 'INTERNAL_SERVER_ERROR', http: { status: 500 } },
  });
}

/**
 * Removes the refused value from a message of graphql, which may be the whole value of a variable with its PIX keys. The
 * place and the reason suffice.
 *
 * @param reason the end of `message`, if it is about a variable
 */
function withoutValue(message: string, reason: string): string {
  const end = `; ${reason}`;
  const head = message.endsWith(end) ? message.slice(0, -end.length) : message;
  const [, variable, place = ''] = REFUSED_VARIABLE.exec(head) ?? [];
  if (variable) return `${variable}${place}; ${reasonWithoutValue(reason)}`;
  return reasonWithoutValue(message);
}

const REFUSED_VARIABLE = /^(Variable "\$\w+" got invalid value) [\s\S]*?( at "[\w.[\]]+")?$/;

function reasonWithoutValue(reason: string): string {
  return REPEATED_VALUES.reduce((text, [repeated, rest]) => text.replace(repeated, rest), reason);
}

/**
 * The messages of graphql 16 that repeat a value, up to the end of the text or to a suggestion. Each pattern is anchored at
 * the beginning, because the middle may be 90 kB of the caller's text.
 */
const REPEATED_VALUES: [RegExp, string][] = [
  [/^((?:Enum "\w+"|\w+) cannot represent [\w -]*value): [\s\S]*$/, '$1'],
  [/^Value "[\s\S]*" (does not exist in "\w+" enum\.)/, 'Value $1'],
  [/^(Expected value of type "[^"]+"), found (?!null\.)[\s\S]*$/, '$1.'],
  [/^(Argument "\w+" has invalid value) [\s\S]*$/, '$1.'],
  [/^(Syntax Error: [\s\S]*?\b(?:String|BlockString|Int|Float)) "[\s\S]*$/, '$1.'],
];

/**
 * Whether one of our types has refused one of our own values in a result: that is an internal fault, although it is a
 * GraphQLError.
 */
function isSerializationFault(error: GraphQLError, cause: GraphQLError): boolean {
  return error.path !== undefined && cause !== error && !cause.nodes?.length;
}

function locationOf(error: unknown) {
  if (!(error instanceof GraphQLError)) return {};
  return { nodes: error.nodes ?? null, path: error.path ?? null };
}
