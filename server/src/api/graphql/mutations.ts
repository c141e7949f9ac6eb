import { inGivenNames, takeNames } from '../../kernel/aliases.ts';
import type { Caller } from '../../kernel/caller.ts';
import { callerOf } from '../../kernel/caller.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

export type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Extended> ? Extended : never;
/** The fields of an object, as a function of Pothos' field builder. */
export type Fields<Shape> = PothosSchemaTypes.ObjectTypeOptions<Types, Shape>['fields'] & {};

/**
 * The success object of a mutation, which is named after it. With the errors that the mutation names, and PermissionError, it
 * is the union `<Mutation>Result`, which the builder's options make.
 */
export function successType<Shape extends object>(
  name: `${string}Success`,
  fields: Fields<Shape>,
  {
    description,
    formerly,
  }: {
    description?: string;
    /** The name of the object in version 0.1.0, where it had another. */
    formerly?: `${string}Success`;
  } = {},
) {
  return builder.objectRef<Shape>(name).implement({
    fields,
    ...(description !== undefined && { description }),
    // The interface has the fields of the object.
    ...(formerly !== undefined && { interfaces: [formerType(formerly, fields)] as never }),
  });
}

const formerTypes = new Map<string, ReturnType<typeof builder.interfaceRef<object>>>();

/**
 * The interface with the former name of success objects: a document that selects `... on` it stays valid and matches them.
 * Two objects that shared a name have the fields of the first in common.
 */
function formerType<Shape extends object>(name: `${string}Success`, fields: Fields<Shape>) {
  const known = formerTypes.get(name);
  if (known) return known;
  const former = builder.interfaceRef<object>(name);
  former.implement({
    description:
      'The name that the objects which implement it had in version 0.1.0: a document that selects on it stays valid. In a new document, name the object itself.',
    fields: fields as never,
  });
  formerTypes.set(name, former);
  return former;
}

/** The success object of a mutation that can be repeated without a second effect: its fields and `replayed`. */
export function replayableSuccessType<Shape extends object>(
  name: `${string}Success`,
  fields: Fields<Shape & Replayable>,
  options?: Parameters<typeof successType>[2],
) {
  return successType<Shape & Replayable>(
    name,
    (t) => ({
      ...fields(t),
      replayed: t.boolean({
        description: 'Whether an earlier request had already done it, so that this one has changed nothing.',
        resolve: ({ replayed }) => replayed,
      }),
    }),
    options,
  );
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
    return inNamesOf(args, (known) => run(caller, known, context, assertMay(caller)));
  };
}

/** Runs a mutation, whose errors name the members of its input as they were given. */
function inNamesOf<Args, Result>(args: Args, run: (known: Args) => Result): Result {
  const { input, names } = takeNames((args as { input?: unknown }).input);
  if (!names) return run(args);
  const rename = (error: unknown): never => {
    throw inGivenNames(error, names);
  };
  try {
    const result = run({ ...args, input });
    return result instanceof Promise ? (result.catch(rename) as Result) : result;
  } catch (error) {
    return rename(error);
  }
}
