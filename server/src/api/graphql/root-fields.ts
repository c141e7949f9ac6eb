import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { type ExecutionResult, GraphQLError, type GraphQLFieldResolver } from 'graphql';
import { callerOf } from '../../kernel/caller.ts';
import { behindChange, hasDoneNothing, NotBegun, OutageError } from '../../kernel/errors.ts';
import { isTracing, withSpanOrTrace } from '../../kernel/traces.ts';
import type { Context } from './context.ts';
import { NO_INFO, takesInfo } from './execution.ts';
import { replaceError } from './failures.ts';
import { foreignIdCheck, registerRootField } from './foreign-ids.ts';
import { markReplay, withKeyOfHeader } from './idempotency-header.ts';
import { clearLoaders } from './loaders.ts';
import { withWordsFor } from './payer-errors.ts';
import { isSemanticNonNull, semanticNonNullExtensions } from './semantic-non-null.ts';

export const ROOT_FIELDS = 'rootFields' as const;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      rootFields: RootFieldsPlugin<Types>;
    }
  }
}

/**
 * Requires a credential for every root field, under any alias, and counts it once against the caller's limit. A field of a
 * query or a mutation that is declared as non-null becomes nullable with `@semanticNonNull`: if it fails, the other fields of
 * its operation stay in the result. A subscription has only one root field, so it stays non-null.
 */
class RootFieldsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if ((field.kind !== 'Query' && field.kind !== 'Mutation') || field.type.nullable) return field;
    // A gateway reads `_service` and `_entities` as the specification of Federation defines them.
    if (field.name.startsWith('_')) return field;
    return {
      ...field,
      type: { ...field.type, nullable: true },
      extensions: { ...field.extensions, ...semanticNonNullExtensions },
    };
  }

  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (field.kind === 'Query' || field.kind === 'Mutation') return withAdmission(resolve, field);
    // The arguments were validated when the subscription was opened. The field's own resolver runs for each update, without
    // the wrappers of the later plugins: validation is asynchronous, and would delay each update by a turn.
    return field.kind === 'Subscription' ? (field.resolve ?? resolve) : resolve;
  }

  override wrapSubscribe(
    subscribe: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    return subscribe && withAdmission(subscribe, field);
  }
}

const KIND = { Query: 'query', Mutation: 'mutation', Subscription: 'subscription' } as const;

function withAdmission<Types extends SchemaTypes>(
  resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
  { name, parentType, extensions, args }: PothosOutputFieldConfig<Types>,
): GraphQLFieldResolver<unknown, Types['Context'], object> {
  registerRootField(name, args);
  const assertOwnIds = foreignIdCheck(name, args);
  const kind = KIND[parentType as keyof typeof KIND];
  const traceName = `${kind} ${name}`;
  const attributes = { 'graphql.operation.type': kind, 'graphql.field': name };
  const isSemanticNonNullField = isSemanticNonNull({ extensions: extensions ?? {} });
  /** Returns an error if a field with `@semanticNonNull` resolved to null; otherwise null. */
  const faultOf = (value: unknown) =>
    isSemanticNonNullField && value == null
      ? new Error(`Cannot return null for ${parentType}.${name}.`)
      : null;

  const inState = kind === 'mutation' ? withMutationState(resolve) : resolve;
  const begin: typeof resolve = !assertOwnIds
    ? inState
    : (parent, values, context, info) => {
        assertOwnIds(values);
        return inState(parent, values, context, info);
      };
  const admitted: typeof resolve = (parent, args, context, info) => {
    const { clock, onRootField } = context as Context;
    const startedAt = clock.ms();
    const report = (error: unknown) => onRootField(kind, name, error, clock.ms() - startedAt);
    const run = () => {
      callerOf(context as Context);
      const admission = (context as Context).takeRootField();
      if (!admission) return begin(parent, args, context, info);
      return admission.then(() => begin(parent, args, context, info));
    };
    const runForCaller = () => withWordsFor((context as Context).caller, run);
    // An operation over a WebSocket has no span around it.
    if (isTracing())
      return withSpanOrTrace(traceName, attributes, () => reportOutcome(runForCaller, faultOf, report));
    return reportOutcome(runForCaller, faultOf, report);
  };
  // A compiled query builds the info only for a resolver that declares it.
  const needsInfo = kind !== 'query' || takesInfo(resolve);
  return needsInfo ? admitted : (parent, args, context) => admitted(parent, args, context, NO_INFO);
}

/**
 * Wraps the resolver of a mutation. Records in the operation's state that the field may have changed something; after an outage
 * the next fields do not begin.
 */
function withMutationState<Types extends SchemaTypes>(
  resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
): GraphQLFieldResolver<unknown, Types['Context'], object> {
  return async (parent, args, context, info) => {
    const { mutationState, loaders } = context as Context;
    // Each of up to 50 fields would wait for the same database, and might be done after the caller has given up.
    if (mutationState.hasOutage) throw new NotBegun('a field before this one has met an outage');
    let result: unknown;
    try {
      result = await resolve(parent, withKeyOfHeader(args, context), context, info);
    } catch (error) {
      mutationState.mayHaveChanged ||= !hasDoneNothing(error);
      mutationState.hasOutage ||= error instanceof OutageError;
      throw error;
    }
    mutationState.mayHaveChanged = true;
    clearLoaders(loaders);
    markReplay(result, context, info);
    return result;
  };
}

/** Corrects outages that report that nothing was done, if another field of the operation may have changed something. */
export function behindChanges(result: ExecutionResult, context: Context): ExecutionResult {
  if (!result.errors || !context.mutationState.mayHaveChanged) return result;
  const errors = result.errors.map((error) => {
    const cause = behindChange(error.originalError);
    if (cause === error.originalError) return error;
    const { message, nodes = null, path = null } = error;
    return replaceError(error, new GraphQLError(message, { nodes, path, originalError: cause as Error }));
  });
  return { ...result, errors };
}

/** Calls `report` when `run` has ended, at once or later, with its error, that of its value, or null. */
function reportOutcome(
  run: () => unknown,
  faultOf: (value: unknown) => Error | null,
  report: (error: unknown) => void,
): unknown {
  const end = (value: unknown) => {
    const fault = faultOf(value);
    report(fault);
    if (fault) throw fault;
    return value;
  };
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    report(error);
    throw error;
  }
  return result instanceof Promise
    ? result.then(end, (error) => {
        report(error);
        throw error;
      })
    : end(result);
}

SchemaBuilder.registerPlugin(ROOT_FIELDS, RootFieldsPlugin);
