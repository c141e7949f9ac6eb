import { z } from 'zod';
import type { Caller, Right } from '../../kernel/caller.ts';
import type { ErrorCode, RestCode } from '../../kernel/error-codes.ts';
import { ValidationError } from '../../kernel/errors.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import { fileFormOf } from './file-bodies.ts';
import { hasMember } from './known-members.ts';

// ── Declaring an operation ──────────────────────────────────────────────────────────────────────

/** The answer of an operation under one status; the statuses with which it refuses are in `errors`. */
export interface RestAnswer {
  readonly description: string;
  /** Encodes the body (`z.encode`), if it is no file: codecs turn cents and Dates into the document's JSON, other members are left out. */
  readonly schema: z.ZodType;
}

type NoFields = z.ZodObject<Record<never, never>>;

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answers extends Readonly<Record<number, RestAnswer>>,
  Status extends keyof Answers & number,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters stand in braces: `/v1/subaccounts/{id}`. */
  readonly path: `/v1/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The group of the operation on the documentation page. */
  readonly tag: string;
  /** The section of the document. */
  readonly section?: string;
  /** The right that the operation needs. Left out, it needs an unrestricted key. */
  readonly right?: Right;
  /** Fields of the path, decoded from text. A wrong field of path, query or body is refused with 400 and its name. */
  readonly params?: Params;
  /** The parameters of the query. Any other is refused: an ignored filter would return too much. */
  readonly query?: Query;
  /** An object, whose unknown members are refused: if they were ignored, they would not limit the effect as intended. Or a file. */
  readonly body?: Body;
  /** A valid body, with which the documentation page fills its form. */
  readonly example?: NoInfer<z.input<Body>>;
  readonly answers: Answers;
  /** The meaning of the operation's own refusals, by status. 400, 401, 403, 429, 500, 503 and 504 are described without it. */
  readonly errors?: Readonly<Record<number, string>>;
  /** @throws PaymentError, which is answered with its status */
  handle(request: {
    readonly caller: Caller;
    readonly params: z.output<Params>;
    readonly query: z.output<Query>;
    readonly body: z.output<Body>;
  }): Promise<{ status: Status; replayed?: boolean } & Answered<Answers, Status>>;
}

/** The result of a handler: each status has the body of its own schema. */
type Answered<Answers, Status extends keyof Answers> = {
  [Each in Status]: Answers[Each] extends RestAnswer
    ? { status: Each; body: z.output<Answers[Each]['schema']> }
    : never;
}[Status];

/** An operation whose types were checked at its declaration. */
// biome-ignore lint/suspicious/noExplicitAny: the only way to express "of some types"
export type RestOperation = Definition<any, any, any, any, any>;

/**
 * Declares one operation of the REST interface: its validation, its route and its description are made from it. The
 * compiler checks the answers against `answers`, and their schemas encode them.
 */
export function restOperation<
  Answers extends Readonly<Record<number, RestAnswer>>,
  Status extends keyof Answers & number,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Params, Query, Body, Answers, Status>): RestOperation {
  return definition;
}

/** Whether a request of the operation may carry an idempotency key. */
export function takesKey({ body }: Pick<RestOperation, 'body'>): boolean {
  return body !== undefined && (fileFormOf(body) !== undefined || hasMember(body, 'idempotencyKey'));
}

/** The HTTP status of each error. Exhaustive: a code without a status does not compile. */
const STATUS: Record<RestCode, number> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RATE_LIMITED: 429,
  INSUFFICIENT_FUNDS: 400,
  CARD_PAYMENTS_NOT_CONFIGURED: 409,
  NOT_IN_SANDBOX: 403,
  ONLY_IN_SANDBOX: 403,
  LIMIT_REACHED: 409,
  IDEMPOTENCY_CONFLICT: 409,
  CHECKOUT_TOKEN_USED: 409,
  CHECKOUT_TOKEN_PAUSED: 409,
  ORDER_PAID: 409,
  ORDER_REFUNDED: 409,
  NOT_CANCELABLE: 409,
  NOT_REFUNDABLE: 409,
  DISPUTE_STATE: 409,
  NOT_PAYABLE: 409,
  NOT_OFFERED: 501,
  RECORDS_BEHIND: 503,
  PAYMENTS_NOT_CONFIGURED: 409,
  BANK_REFUSED: 409,
  UPSTREAM_REFUSED: 502,
  UPSTREAM_UNAVAILABLE: 502,
  OUTCOME_UNKNOWN: 504,
  UNAVAILABLE: 503,
  INTERNAL_SERVER_ERROR: 500,
};

/** The HTTP status of a code; 400 for one that GraphQL alone has. */
export function statusOf(code: ErrorCode): number {
  return (STATUS as Partial<Record<ErrorCode, number>>)[code] ?? 400;
}

// ── Pages (the document's 2.1.6) ────────────────────────────────────────────────────────────────

/** A whole number in a query string. */
function wholeNumber({ min, max, initial }: { min: number; max: number; initial: number }) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .refine((text) => /^[0-9]{1,16}$/.test(text), { message, abort: true })
    .transform(Number)
    .refine((number) => number >= min && number <= max, message)
    .default(initial)
    .meta({ type: 'integer', minimum: min, maximum: max, default: initial });
}

/** `limit` and `offset` of a list. */
export const pageQuery = z.object({
  limit: wholeNumber({ min: 1, max: 100, initial: 50 }),
  offset: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, initial: 0 }),
});

/** The parameter of a list that looks up what a request has made, after a timeout. */
export const byKey = {
  idempotencyKey: idempotencyKeyText.optional().meta({
    description:
      'The idempotency key of a request: the page has what it has made, or nothing. It stands alone, beside limit and offset. An extension of the document',
  }),
};

/**
 * Reads a page: of the list, or where the query has an idempotency key, of what its request has made.
 * @throws ValidationError if the query has a filter beside the key
 */
export async function pageOrKeyed<
  Item,
  Query extends { idempotencyKey?: string | undefined; offset: number },
>(
  query: Query,
  {
    list,
    made,
  }: {
    list: (query: Omit<Query, 'idempotencyKey'>) => Promise<{ items: Item[]; total: number }>;
    made: (idempotencyKey: string) => Promise<Item | null>;
  },
): Promise<{ items: Item[]; total: number }> {
  const { idempotencyKey, ...rest } = query;
  if (idempotencyKey === undefined) return list(rest);
  const filters = Object.entries(rest).filter(([name, value]) => value !== undefined && !isOfPage(name));
  if (filters.length > 0)
    throw new ValidationError([{ path: filters[0]![0], message: 'is not for a lookup by idempotencyKey' }]);
  return pageOfOne(await made(idempotencyKey), query);
}

/** The page of a list that has at most one item. */
function pageOfOne<Item>(
  item: Item | null,
  { offset }: { offset: number },
): { items: Item[]; total: number } {
  return { items: item !== null && offset === 0 ? [item] : [], total: item === null ? 0 : 1 };
}

const isOfPage = (name: string) => name in pageQuery.shape;

/** The body of a page: the items under the name of the list, with `total`, `limit` and `offset` beside them. */
export function pageOf<const Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  const items = { [name]: z.array(item) } as { [Key in Name]: z.ZodArray<Item> };
  return z.object({
    ...items,
    total: z.int().meta({ description: 'How many there are in all' }),
    limit: z.int(),
    offset: z.int(),
  });
}
