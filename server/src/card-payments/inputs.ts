import { builder } from '../graphql/builder.ts';

export const CustomerInput = builder.inputType('CustomerInput', {
  fields: (t) => ({ name: t.string(), email: t.string(), externalId: t.string() }),
});
