import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CODE_ROWS, type ErrorCode, RETRIES, type Retry, retryOf } from '../../kernel/error-codes.ts';
import {
  describeOutage,
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  OutageError,
  PaymentError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { ltcText } from '../../kernel/money.ts';
import { SlowConsumerError } from '../../state/events/subscription.ts';
import { retryHeaders } from '../http/routes.ts';
import { builder } from './builder.ts';
import { deprecatedSince } from './deprecations.ts';
import { replaceError } from './failures.ts';
import { placeOf } from './literals.ts';

// ── As members of result unions ─────────────────────────────────────────────────────────────────

const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'The reason for which a mutation was refused, as `extensions.code` of a top-level error and `X-Error-Code` of REST name it. New reasons come with new releases: treat an unknown one by its `retryPolicy`.',
  values: Object.fromEntries(
    CODE_ROWS.filter(([, { type }]) => type !== null).map(([code, { type, meaning }]) => [
      code,
      { description: `${type}: ${meaning}.` },
    ]),
  ),
});

const RetryEnum = builder.enumType('RetryPolicy', {
  description:
    'Whether, when and with which key the request is sent again, for one `switch`. Treat a value that you do not know as NEVER.',
  values: Object.fromEntries(
    Object.entries(RETRIES).map(([retry, description]) => [retry, { description }]),
  ) as Record<Retry, { description: string }>,
});

const UserError = builder.interfaceRef<PaymentError>('UserError').implement({
  description:
    'An error that a caller can correct or must know. Every error member of a result union implements it.',
  fields: (t) => ({
    message: t.exposeString('message'),
    code: t.field({ type: ErrorCodeEnum, resolve: ({ code }) => code }),
    retryPolicy: t.field({
      type: RetryEnum,
      description: 'Whether, when and with which key the request is sent again.',
      resolve: ({ code }) => retryOf(code),
    }),
    retryAfterSeconds: t.int({
      nullable: true,
      description: 'The seconds after which a retry may succeed; null if they are not known.',
      resolve: (error) => (error instanceof RateLimitError ? error.retryAfterSeconds : null),
    }),
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

const UnavailableError = builder.interfaceRef<PreconditionError>('UnavailableError').implement({
  description:
    'The name of PreconditionError in 0.1.0: a document that selects it goes on working until 2027-12. Select PreconditionError.',
  interfaces: [UserError],
});

builder.objectType(PreconditionError, {
  name: 'PreconditionError',
  description:
    'The environment, the account’s set-up, the state of the resource or a limit does not allow it. Nothing was done.',
  interfaces: [UserError, UnavailableError],
});

builder.objectType(IdempotencyError, {
  name: 'IdempotencyError',
  description: 'The same key was used before with another input.',
  interfaces: [UserError],
});

builder.objectType(UpstreamError, {
  name: 'UpstreamError',
  description:
    'The upstream service, which is the payments service behind this server, or a bank or network, did not answer, or has refused: `code` says which. If moneyMayHaveMoved, do not repeat the request with a new key: look it up by lookupReference.',
  interfaces: [UserError],
  fields: (t) => ({
    retryable: t.exposeBoolean('retryable', {
      description: 'Whether the same request may be sent again, with the same idempotencyKey if it has one.',
      deprecationReason: deprecatedSince('0.2.0', 'Use retryPolicy, which every error has.'),
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

/** A refusal of a whole request, at `status`. By `spec` that is 200 with the older media type, application/json. */
export function refusalOf(code: ErrorCode, message: string, status: number, spec = true): GraphQLError {
  const http = { status, spec, headers: { 'x-error-code': code } };
  const refusal = new GraphQLError(message, { extensions: { ...describeCode(code), http } });
  translated.add(refusal);
  return refusal;
}

/** The members of `extensions` by which a client decides what to do. */
export function describeCode(code: ErrorCode, retryAfterSeconds: number | null = null) {
  return { code, retryPolicy: retryOf(code), ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }) };
}

/** The HTTP status of a response that is nothing but an error, by its code; 200 for any other code. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
};

/**
 * Translates an error for which no result union has a member. An error of GraphQL about the document or its variables stays,
 * because the caller can correct it. Any other error that is no domain error is an outage or a fault: it is passed to
 * `onFault` and shown as `UNAVAILABLE`, `OUTCOME_UNKNOWN` or `Internal error`. A translated error is returned unchanged.
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
    const { code } = cause;
    const status = STATUS[code] ?? 200;
    const seconds = cause instanceof RateLimitError ? cause.retryAfterSeconds : null;
    const headers = {
      'x-error-code': code,
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(seconds === null ? {} : { 'retry-after': String(seconds) }),
    };
    return new GraphQLError(cause.message, {
      ...locationOf(error),
      extensions: {
        ...describeCode(code, seconds),
        ...(cause instanceof ValidationError ? { fields: cause.fields } : {}),
        ...(cause instanceof UpstreamError ? { lookupReference: cause.lookupReference } : {}),
        http: { status, headers },
      },
    });
  }
  // A WebSocket is closed with 1013 instead; an event stream ends with this error.
  if (cause instanceof SlowConsumerError)
    return new GraphQLError(cause.message, {
      originalError: cause,
      extensions: describeCode('SLOW_CONSUMER'),
    });
  if (error instanceof GraphQLError && cause instanceof GraphQLError && !isSerializationFault(error, cause)) {
    const http = error.extensions.http as { status?: number; headers?: object } | undefined;
    const code = http?.status === 405 ? 'METHOD_NOT_ALLOWED' : 'BAD_USER_INPUT';
    Object.assign(error.extensions, describeCode(code));
    error.message = placeOf(error) + withoutValue(error.message, cause.message);
    // A message may repeat the whole input.
    if (error.message.length > MAX_MESSAGE_LENGTH)
      error.message = `${error.message.slice(0, MAX_MESSAGE_LENGTH)}…`;
    const headers = { ...http?.headers, 'x-error-code': code };
    // Without a path no field has run. `spec`: with the older media type, application/json, the status is 200.
    if (http || !error.path) error.extensions.http = { ...(http ?? { status: 400, spec: true }), headers };
    // Yoga has put the error of JSON.parse here: 400 with either media type.
    if (error.extensions.originalError) error.extensions.http = { status: 400, headers };
    delete error.extensions.originalError;
    return error;
  }
  onFault(cause);
  if (cause instanceof OutageError) {
    const { code, message, status, retryAfterSeconds } = describeOutage(cause);
    const headers = { 'x-error-code': code, ...retryHeaders(cause) };
    const extensions = { ...describeCode(code, retryAfterSeconds), http: { status, headers } };
    return new GraphQLError(message, { ...locationOf(error), extensions });
  }
  const code = 'INTERNAL_SERVER_ERROR';
  return new GraphQLError('Internal error', {
    ...locationOf(error),
    extensions: { ...describeCode(code), http: { status: 500, headers: { 'x-error-code': code } } },
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
