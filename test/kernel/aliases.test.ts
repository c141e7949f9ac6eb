import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  amountMembers,
  demandAmount,
  inGivenNames,
  refuseTwoOrders,
  takeNames,
  withKnownAmount,
  withKnownOrder,
} from '../../server/src/kernel/aliases.ts';
import { NotFoundError, ValidationError } from '../../server/src/kernel/errors.ts';
import { hashInput } from '../../server/src/kernel/input-hash.ts';

const input = z
  .object({
    ...amountMembers(z.number(), 'The amount'),
    orderId: z.string().nullish(),
    externalId: z.string().nullish(),
  })
  .superRefine(demandAmount)
  .superRefine(refuseTwoOrders)
  .transform(withKnownAmount);

const refusalOf = (given: unknown) =>
  input.safeParse(given).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('members with two names', () => {
  test.each([
    [{ amountCents: 5, orderId: 'a' }],
    [{ valueCents: 5, externalId: 'a' }],
    [{ amountCents: 5, valueCents: null, orderId: 'a', externalId: 'a' }],
  ])('An input under any of the names of its members is one request: %j', (given) => {
    const { input: parsed } = takeNames(input.parse(given));
    expect(Object.keys(parsed).sort()).toEqual(['externalId', 'valueCents']);
    expect(hashInput(parsed)).toBe(hashInput({ valueCents: 5, externalId: 'a' }));
  });

  test.each([
    [{}, /^amountCents: .*valueCents/],
    [{ amountCents: null }, /^amountCents: .*valueCents/],
    [{ amountCents: 5, valueCents: 5 }, /^amountCents: .*valueCents/],
    [{ amountCents: 5, orderId: 'a', externalId: 'b' }, /^orderId: .*externalId/],
  ])('A refusal of both names or of none names both: %j', (given, message) => {
    expect(refusalOf(given)).toEqual([expect.stringMatching(message)]);
  });

  test('A later refusal names a member as it was given', () => {
    const error = new ValidationError([
      { path: 'input.valueCents', message: 'is too much' },
      { path: 'externalId', message: 'is another' },
      { path: 'input.customer.externalId', message: 'stays' },
    ]);
    const pathsFor = (given: object) =>
      (inGivenNames(error, takeNames(input.parse(given)).names) as ValidationError).fields.map(
        ({ path }) => path,
      );
    expect(pathsFor({ amountCents: 5, orderId: 'a' })).toEqual([
      'input.amountCents',
      'orderId',
      'input.customer.externalId',
    ]);
    expect(pathsFor({ valueCents: 5 })).toEqual(error.fields.map(({ path }) => path));
    const other = new NotFoundError('nothing');
    expect(inGivenNames(other, takeNames(input.parse({ amountCents: 5 })).names)).toBe(other);
    expect(inGivenNames(error, takeNames(null).names)).toBe(error);
  });

  test('The amount of a filter keeps its name beside that of an order', () => {
    expect(takeNames(withKnownOrder({ orderId: 'a', amountCents: 5 }))).toEqual({
      input: { externalId: 'a', amountCents: 5 },
      names: { externalId: 'orderId' },
    });
  });
});
