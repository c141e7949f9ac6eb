import { type ErrorCode, type Retry, retryOf } from '../../kernel/error-codes.ts';
import {
  describeOutage,
  type FieldError,
  OutageError,
  PaymentError,
  RateLimitError,
  UnauthenticatedError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { statusOf } from './rest.ts';
import { HttpError } from './routes.ts';

/** The response to an error, outside of `/graphql`. */
export interface ErrorAnswer {
  status: number;
  body: ErrorBody;
  headers: Record<string, string>;
}

/** The body of an error. Later versions add members. */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  retryPolicy: Retry;
  retryAfterSeconds?: number;
  lookupReference?: string;
  fields?: readonly FieldError[];
}

/** The response to an error: a refusal with its message, an outage with a general message, a fault with none. */
export function answerTo(error: unknown): ErrorAnswer {
  if (error instanceof HttpError) {
    const seconds = error.headers['retry-after'];
    return answer(error.status, error.code, error.message, {
      headers: error.headers,
      retryAfterSeconds: seconds === undefined ? null : Number(seconds),
    });
  }
  if (error instanceof OutageError) {
    const { status, code, message, retryAfterSeconds } = describeOutage(error);
    return answer(status, code, message, { retryAfterSeconds });
  }
  if (!(error instanceof PaymentError)) return answer(500, 'INTERNAL_SERVER_ERROR', 'Internal error');
  const fields = error instanceof ValidationError ? fieldsOf(error) : null;
  const message = fields?.map((field) => `${field.path}: ${field.message}`).join('; ') ?? error.message;
  return answer(statusOf(error.code), error.code, message, {
    headers: error instanceof UnauthenticatedError ? { 'www-authenticate': 'Bearer' } : {},
    retryAfterSeconds: error instanceof RateLimitError ? error.retryAfterSeconds : null,
    lookupReference: error instanceof UpstreamError ? error.lookupReference : null,
    fields,
  });
}

function answer(
  status: number,
  code: ErrorCode,
  error: string,
  {
    headers = {},
    retryAfterSeconds = null,
    lookupReference = null,
    fields = null,
  }: {
    headers?: Record<string, string>;
    retryAfterSeconds?: number | null;
    lookupReference?: string | null;
    fields?: readonly FieldError[] | null;
  } = {},
): ErrorAnswer {
  return {
    status,
    body: {
      error,
      code,
      retryPolicy: retryOf(code),
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
      ...(lookupReference === null ? {} : { lookupReference }),
      ...(fields && { fields }),
    },
    headers: {
      // The refusal itself: the words of the body may change.
      'x-error-code': code,
      ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...headers,
    },
  };
}

/** The wrong fields by their names in REST. The domain names them `input.valueCents` or `filter.status`; REST has neither. */
function fieldsOf({ fields }: ValidationError): FieldError[] {
  return fields.map(({ path, message }) => ({ path: path.replace(/^(?:input|filter)\./, ''), message }));
}
