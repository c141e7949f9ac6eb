import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'), {
  assumeValidSDL: true,
});

/** The types that have lists with pages. Those lists, with their filters, are read by db/lists. */
const PARENTS = ['Query', 'Subaccount', 'PixSubscription'];

/** The lists without pages, and what bounds each. */
const BOUNDED: Record<string, string> = {
  'CardPayment.delivered': 'one for each unit of the product that was bought',
  'CardPayment.disputes': 'each takes a part of one payment',
  'CardPayment.refunds': 'MAX_REFUNDS',
  'Charge.disputes': 'each takes a part of one charge',
  'Charge.refunds': 'MAX_REFUNDS',
  'Charge.returnedCredits': 'one for each further PIX of one code',
  'Charge.splits': 'MAX_SPLITS',
  'Dispute.evidence': 'MAX_EVIDENCE',
  'DisputeEvidence.documents': 'a part of one answer',
  'Payment.delivered': 'one for each unit of the product that was bought',
  'Payment.disputes': 'each takes a part of one payment',
  'Payment.refunds': 'MAX_REFUNDS',
  'Payment.returnedCredits': 'one for each further PIX of one code',
  'PermissionError.requiresAnyOf': 'permissions',
  'PixSubscription.returnedCredits': 'one for each further PIX of one code',
  'Query._entities': 'the representations of the request',
  'Query.nodes': 'the ids of the request',
  'Query.pausedTokens': 'the newest',
  'Query.unresolvedRequests': 'an argument of its own',
  'ValidationError.fields': 'the arguments of the request',
  'WebhookDelivery.attempts': 'seven attempts',
};

const outputTypes = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType =>
    isObjectType(type) && !/^__|Connection$|Edge$|^Mutation$|^Subscription$/.test(type.name),
);
const fields = outputTypes.flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, type, field })),
);
const connections = fields.filter(({ field }) => getNamedType(field.type).name.endsWith('Connection'));

describe('the lists of the schema', () => {
  it('Each list has pages, or something that bounds it', () => {
    const lists = fields
      .filter(({ field: { type } }) => isListType(isNonNullType(type) ? type.ofType : type))
      .filter(
        ({ field: { type } }) => !isEnumType(getNamedType(type)) && getNamedType(type).name !== 'String',
      );
    const unbounded = lists.map(({ name }) => name).filter((name) => !(name in BOUNDED));
    expect(unbounded).toEqual([]);
  });

  it('Each list with pages is of a type whose lists are tried', () => {
    expect(connections.map(({ type }) => type.name).filter((name) => !PARENTS.includes(name))).toEqual([]);
    expect(connections.length).toBeGreaterThanOrEqual(15);
  });
});
