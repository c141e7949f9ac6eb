/**
 * Whether, when and with which key a refused request is sent again, for a client's one `switch`. A refusal says it beside its
 * code, in every transport.
 */
export const RETRIES = {
  NEVER: 'Send it no more: the same request is refused again, whenever it is sent.',
  AFTER_CHANGE:
    'Send it after a correction of what the message names: the input, the credential, the balance or the account. Nothing was done, so the same key is still free.',
  SAME_KEY:
    'Send it as it is, with the same idempotencyKey, after `retryAfterSeconds` or after growing pauses. No money has moved, and with the key nothing is done twice.',
  NEW_KEY: 'Send it with a new idempotencyKey: what was begun under this key has failed for good.',
  LOOK_UP:
    'Look it up: it may have been done. With the same idempotencyKey it can be sent again, which does nothing twice; never send it with another key.',
} as const;

export type Retry = keyof typeof RETRIES;

interface CodeRow {
  readonly retry: Retry;
  /** The reason, as the documents and the schema describe it. */
  readonly meaning: string;
  /** The type of GraphQL that has the code in a result union; null if it is a top-level error alone. */
  readonly type: string | null;
  /** The one interface that has the code; undefined for both. */
  readonly only?: 'GraphQL' | 'REST';
}

/**
 * The codes of all errors, the same in GraphQL, in REST and in the packages. A code without a row does not exist: the type
 * `ErrorCode`, the enum of the schema and the tables of the documents are made from these rows.
 */
const ROWS = {
  BAD_USER_INPUT: {
    type: 'ValidationError',
    retry: 'AFTER_CHANGE',
    meaning: 'Members of the input are wrong, or the request cannot be read',
  },
  IDEMPOTENCY_CONFLICT: {
    type: 'IdempotencyError',
    retry: 'NEVER',
    meaning: 'The key was used before with another input',
  },
  UNAUTHENTICATED: {
    type: null,
    retry: 'AFTER_CHANGE',
    meaning: 'The credential is missing or invalid, has expired or was revoked',
  },
  FORBIDDEN: {
    type: 'PermissionError',
    retry: 'AFTER_CHANGE',
    meaning: 'The credential is not allowed to do this',
  },
  NOT_FOUND: {
    type: 'NotFoundError',
    retry: 'AFTER_CHANGE',
    meaning: 'The resource does not exist, or belongs to another account or environment',
  },
  INSUFFICIENT_FUNDS: {
    type: 'InsufficientFundsError',
    retry: 'AFTER_CHANGE',
    meaning: 'The amount is more than can be withdrawn',
  },
  CARD_PAYMENTS_NOT_CONFIGURED: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'This account takes no cards',
  },
  PAYMENTS_NOT_CONFIGURED: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'This account takes no PIX, or no LTC',
  },
  NOT_IN_SANDBOX: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'This needs a live key, as card payments and payouts of subaccounts do',
  },
  ONLY_IN_SANDBOX: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'This needs a test key, as test payments do',
  },
  LIMIT_REACHED: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'A limit of number, amount or length is reached',
  },
  CHECKOUT_TOKEN_USED: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'The payment of a single-use token was canceled, or is open with another amount',
  },
  CHECKOUT_TOKEN_PAUSED: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning:
      'The merchant has paused this token, or this server was restored, and the token was minted before',
  },
  ORDER_PAID: {
    type: 'PreconditionError',
    retry: 'NEVER',
    meaning: 'Another payment of the same order was paid',
  },
  ORDER_REFUNDED: {
    type: 'PreconditionError',
    retry: 'NEVER',
    meaning: 'The order was paid, and its whole amount was refunded. It takes no other payment',
  },
  NOT_CANCELABLE: {
    type: 'PreconditionError',
    retry: 'NEVER',
    meaning: 'The payment is not PENDING: it has been paid, has expired or has failed',
  },
  NOT_REFUNDABLE: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'The payment is not paid yet, is refunded already, or is too old',
  },
  DISPUTE_STATE: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'A bank claims the money back at this moment, or evidence comes too late',
  },
  NOT_PAYABLE: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning: 'The simulated payment has no code yet, or has ended',
  },
  NOT_OFFERED: {
    type: 'PreconditionError',
    retry: 'AFTER_CHANGE',
    meaning:
      'The upstream service does not offer this, or not in a form that is known; of a file: this server has no key to encrypt it. Nothing was requested from it, or nothing was done',
  },
  RECORDS_BEHIND: {
    type: 'PreconditionError',
    retry: 'SAME_KEY',
    meaning:
      'This server was restored, and its records lack what came after the backup. Nothing was sent; without a key, give one',
  },
  BANK_REFUSED: {
    type: 'UpstreamError',
    retry: 'NEW_KEY',
    meaning: 'The bank has refused it for good. No money has moved',
  },
  UPSTREAM_REFUSED: {
    type: 'UpstreamError',
    retry: 'AFTER_CHANGE',
    meaning:
      'The upstream service has refused this, cannot do it, or has answered with something else. No money has moved',
  },
  UPSTREAM_UNAVAILABLE: {
    type: 'UpstreamError',
    retry: 'SAME_KEY',
    meaning: 'The upstream service, a bank or a network does not answer for the moment. No money has moved',
  },
  OUTCOME_UNKNOWN: {
    type: 'UpstreamError',
    retry: 'LOOK_UP',
    meaning:
      'The upstream service, or the database of this server, did not say whether it has done this. It may have',
  },
  RATE_LIMITED: {
    type: 'RateLimitError',
    retry: 'SAME_KEY',
    meaning: 'The caller did too much in too short a time',
  },
  UNAVAILABLE: {
    type: null,
    retry: 'SAME_KEY',
    meaning: 'The database of this server is not available for the moment, or the server is starting',
  },
  INTERNAL_SERVER_ERROR: {
    type: null,
    retry: 'LOOK_UP',
    meaning: 'A fault of this server, which its log explains',
  },
  CURSOR_EXPIRED: {
    type: null,
    retry: 'AFTER_CHANGE',
    only: 'GraphQL',
    meaning:
      'The log does not continue from this cursor: read the lists again, and go on from their `updatesCursor`',
  },
  SLOW_CONSUMER: {
    type: null,
    retry: 'SAME_KEY',
    only: 'GraphQL',
    meaning: 'The subscriber did not read its updates in time: subscribe again, with the last cursor',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    type: null,
    retry: 'AFTER_CHANGE',
    only: 'GraphQL',
    meaning: 'The document of this hash is not known: send it with its text',
  },
  ROUTE_NOT_FOUND: {
    type: null,
    retry: 'AFTER_CHANGE',
    only: 'REST',
    meaning: 'The server has no such address. This says nothing of any resource',
  },
  METHOD_NOT_ALLOWED: {
    type: null,
    retry: 'AFTER_CHANGE',
    only: 'REST',
    meaning: 'The address has no such method; `Allow` lists those that it has',
  },
} as const satisfies Record<string, CodeRow>;

export type ErrorCode = keyof typeof ROWS;

/** The codes of one type of GraphQL. */
export type CodeOf<Type extends string> = {
  [Code in ErrorCode]: (typeof ROWS)[Code]['type'] extends Type ? Code : never;
}[ErrorCode];

/** The codes that REST has. */
export type RestCode = {
  [Code in ErrorCode]: (typeof ROWS)[Code] extends { only: 'GraphQL' } ? never : Code;
}[ErrorCode];

export const ERROR_CODES: Readonly<Record<ErrorCode, CodeRow>> = ROWS;

export const CODE_ROWS = Object.entries(ERROR_CODES) as readonly (readonly [ErrorCode, CodeRow])[];

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CODES, text);
}

/** Whether, when and with which key a request that was refused with a code is sent again. */
export function retryOf(code: ErrorCode): Retry {
  return ERROR_CODES[code].retry;
}
