import { type GraphQLInputType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { expect, test } from 'vitest';
import { findForeignId, isIdArgument, resourceOf } from '../../server/src/kernel/resource-ids.ts';
import { schema } from '../../server/src/programs/modes/schema.ts';

/** The arguments that end like ids and name no resource with a look-up, each with its reason. */
const NO_RESOURCE: Readonly<Record<string, string>> = {
  externalId: 'the merchant’s own text',
  orderId: 'the merchant’s own text',
  attemptId: 'a text of the page',
  taxId: 'a CPF or CNPJ',
  tokenId: 'a token has no look-up',
};

test('Every argument of the schema that takes an id knows the ids of other resources', () => {
  const unknown = new Set<string>();
  const visit = (name: string, given: GraphQLInputType) => {
    const type = isNonNullType(given) ? given.ofType : given;
    if (isListType(type) && isInputObjectType(type.ofType)) return visit(name, type.ofType);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) visit(field.name, field.type);
    else if (/(?:Id|Code)$/.test(name) && !isIdArgument(name) && !(name in NO_RESOURCE)) unknown.add(name);
  };
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
    for (const { args } of Object.values(root!.getFields()))
      for (const { name, type } of args) visit(name, type);
  expect([...unknown]).toEqual([]);
});

test.each([
  ['PSC-0123456789ABCDEFGHJKMNPQ', 'cardPayment'],
  ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b', 'payment'],
  ['psa_sub_0c7d1a5be2f94a3d8e6b7f100c7d1a5b', 'subscription'],
  ['psc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b', 'charge'],
  ['psplit_0c7d1a5be2f94a3d8e6b7f100c7d1a5b', 'charge'],
  ['sacc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b', 'subaccount'],
  ['saq_idem_k', 'subaccountPayout'],
  ['TURBO-1', 'subaccountPayout'],
  ['SUB-1', 'subaccountPayout'],
  ['SAQ-1', 'payout'],
  ['ref_0c7d1a5be2f94a3d8e6b7f10', 'refund'],
  ['dsp_0c7d1a5be2f94a3d8e6b7f10', 'dispute'],
  ['0c7d1a5be2f94a3d8e6b7f10', null],
  ['pedido-42', null],
])('The id %s belongs to %s', (id, resource) => {
  expect(resourceOf(id)).toBe(resource);
});

test('An argument takes its own ids and texts without a prefix, and knows any other', () => {
  expect(findForeignId('orderCode', 'PSC-1')).toBeNull();
  expect(findForeignId('orderCode', 'an-order-of-another-service')).toBeNull();
  expect(findForeignId('externalId', 'psa_1')).toBeNull();
  expect(findForeignId('orderCode', 'psa_1')).toEqual({ taken: 'cardPayment', meant: 'payment' });
  expect(findForeignId('productId', 'psc_1')).toEqual({ taken: null, meant: 'charge' });
});
