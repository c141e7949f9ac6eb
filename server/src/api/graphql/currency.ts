import { builder } from './builder.ts';

export const Currency = builder.enumType('Currency', {
  description: 'The currency of all amounts. There is only one.',
  values: { BRL: { value: 'BRL', description: 'Brazilian real.' } } as const,
});
