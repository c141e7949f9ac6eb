import { ValidationError } from '../../kernel/errors.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

type Lookup = (reference: string, context: Context) => Promise<object | null> | object | null;

/** The lookups by the beginning of a reference. */
const lookups = new Map<string, Lookup>();

/** Adds the lookup of the references that an `UpstreamError` gives for resources of a slice. */
export function addReference(beginning: `${string}_`, find: Lookup): void {
  lookups.set(beginning, find);
}

builder.queryField('lookup', (t) =>
  t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description:
      'The payment, charge, subscription, refund or payout of a subaccount that a request has made whose answer was an UpstreamError, by its lookupReference. Null means that it has made nothing so far; an outcome that is unknown is an error, or a payout that is PROCESSING.',
    args: { reference: t.arg.string({ required: true, description: 'The lookupReference of the error.' }) },
    resolve: (_, { reference }, context) => {
      // `psa_sub_` begins with `psa_`, so the longest beginning is the reference's own.
      const [own] = [...lookups.keys()]
        .filter((beginning) => reference.startsWith(beginning))
        .sort((a, b) => b.length - a.length);
      if (own === undefined)
        throw new ValidationError([{ path: 'reference', message: 'is no lookupReference of this server' }]);
      return lookups.get(own)!(reference, context) as Promise<never>;
    },
  }),
);
