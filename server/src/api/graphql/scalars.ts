import { GraphQLError, Kind } from 'graphql';
import { isoText, parseInstant } from '../../kernel/instant.ts';
import { isCents } from '../../kernel/money.ts';
import { builder } from './builder.ts';

export interface ScalarExtensions {
  /** The JSON that a value has after `serialize`; null for a value that `serialize` must check. */
  toJson?: (value: unknown) => string | null;
}

builder.scalarType('Cents', {
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc7493#section-2.2',
  description:
    'An amount of BRL in integer cents: R$ 1,00 is 100. A value is a JSON number and a safe integer, which may be larger than Int; never a fraction.',
  serialize: (value) => value,
  extensions: {
    toJson: (value) => (Number.isSafeInteger(value) ? `${value}` : null),
  } satisfies ScalarExtensions,
  parseValue: (value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
      throw new GraphQLError(
        'Cents must be an integer number of cents, without quotes and without a fraction',
      );
    if (!isCents(value)) throw new GraphQLError('Cents must not be negative');
    return value;
  },
  parseLiteral: (node) => {
    const value = node.kind === Kind.INT ? Number(node.value) : Number.NaN;
    if (!isCents(value)) throw new GraphQLError('Cents must be an integer number of cents, 0 or more');
    return value;
  },
});

builder.scalarType('DateTime', {
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc3339',
  description: 'An instant, ISO 8601 in UTC with milliseconds.',
  serialize: isoText,
  extensions: {
    toJson: (value) => (value instanceof Date ? `"${isoText(value)}"` : null),
  } satisfies ScalarExtensions,
  parseValue: (value) => {
    const instant = typeof value === 'string' ? parseInstant(value) : null;
    if (!instant) throw new GraphQLError('DateTime must be an ISO 8601 instant');
    return instant;
  },
});

builder.scalarType('Decimal', {
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#decimal',
  description: 'An exact decimal number, as a string.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value))
      throw new GraphQLError('Decimal must be a decimal number as a string');
    return value;
  },
});

builder.scalarType('Url', {
  specifiedByURL: 'https://url.spec.whatwg.org/',
  description: 'An absolute URL.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value !== 'string') throw new GraphQLError('Url must be a string');
    return value;
  },
});
