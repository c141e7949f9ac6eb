import type { Caller } from '../../kernel/caller.ts';
import { callerOf } from '../../kernel/caller.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

export type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Extended> ? Extended : never;
/** The fields of an object, as a function of Pothos' field builder. */
export type Fields<Shape> = PothosSchemaTypes.ObjectTypeOptions<Types, Shape>['fields'] & {};

/**
 * The success object of a mutation. With the errors that the mutation names, and PermissionError, it is the union
 * `<Mutation>Result`, which the builder's options make.
 */
export function successType<Shape extends object>(
  name: `${string}Success`,
  fields: Fields<Shape>,
  description?: string,
) {
  return builder.objectRef<Shape>(name).implement({ fields, ...(description ? { description } : {}) });
}

/** The success object of a mutation with an idempotency key: its fields and `replayed`. */
export function replayableSuccessType<Shape extends object>(
  name: `${string}Success`,
  fields: Fields<Shape & Replayable>,
) {
  return successType<Shape & Replayable>(name, (t) => ({
    ...fields(t),
    replayed: t.boolean({
      description: 'Whether an earlier request with the same key had already done it.',
      resolve: ({ replayed }) => replayed,
    }),
  }));
}

interface Replayable {
  replayed: boolean;
}

/**
 * Creates the resolver of a mutation: it asserts that the caller may run it, then runs it. `granted` is the result of the
 * assertion.
 *
 * @throws UnauthenticatedError if no credential was presented, errors of `assertMay`
 */
export function authorized<Args, Granted, Result>(
  assertMay: (caller: Caller) => Granted,
  run: (caller: Caller, args: Args, context: Context, granted: Granted) => Result,
): (parent: unknown, args: Args, context: Context) => Result {
  return (_, args, context) => {
    const caller = callerOf(context);
    return run(caller, args, context, assertMay(caller));
  };
}
