import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { type ExecutionResult, GraphQLError, type GraphQLFieldResolver } from 'graphql';
import { behindChange } from '../kernel/errors.ts';
import { isTracing, withSpanOrTrace } from '../kernel/traces.ts';
import { type Context, callerOf } from './context.ts';
import { markReplay, withKeyOfHeader } from './idempotency-header.ts';

export const ROOT_FIELDS = 'rootFields' as const;

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      rootFields: RootFieldsPlugin<Types>;
    }
  }
}

/** Requires a credential for every root field, under any alias, and counts it once against the caller's limit. */
class RootFieldsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    return field.kind === 'Query' || field.kind === 'Mutation' ? withAdmission(resolve, field) : resolve;
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
  { name, parentType }: Pick<PothosOutputFieldConfig<Types>, 'name' | 'parentType'>,
): GraphQLFieldResolver<unknown, Types['Context'], object> {
  const kind = KIND[parentType as keyof typeof KIND];
  const traceName = `${kind} ${name}`;
  const attributes = { 'graphql.operation.type': kind, 'graphql.field': name };

  return (parent, args, context, info) => {
    const { clock, onRootField } = context as Context;
    const startedAt = clock.ms();
    const report = (error: unknown) => onRootField(kind, name, error, clock.ms() - startedAt);
    const begin = kind === 'mutation' ? runMutation : () => resolve(parent, args, context, info);
    async function runMutation() {
      const result = await resolve(parent, withKeyOfHeader(args, context), context, info);
      contextsWithChanges.add(context);
      markReplay(result, context, info.operation.selectionSet.selections.length === 1);
      return result;
    }
    const run = () => {
      callerOf(context as Context);
      const admission = (context as Context).takeRootField();
      return admission ? admission.then(begin) : begin();
    };
    // An operation over a WebSocket has no span around it.
    if (isTracing()) return withSpanOrTrace(traceName, attributes, () => reportOutcome(run, report));
    return reportOutcome(run, report);
  };
}

/** The contexts of operations in which a mutation field has succeeded. */
const contextsWithChanges = new WeakSet<object>();

/** Corrects outages that report that nothing was done, where another field of the operation has changed something. */
export function behindChanges(result: ExecutionResult, context: object): ExecutionResult {
  if (!result.errors || !contextsWithChanges.has(context)) return result;
  const errors = result.errors.map((error) => {
    const cause = behindChange(error.originalError);
    if (cause === error.originalError) return error;
    const { message, nodes = null, path = null } = error;
    return new GraphQLError(message, { nodes, path, originalError: cause as Error });
  });
  return { ...result, errors };
}

/** Calls `report` when `run` has ended, at once or later, with its error or null. */
function reportOutcome(run: () => unknown, report: (error: unknown) => void): unknown {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    report(error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    report(null);
    return result;
  }
  return result.then(
    (value) => {
      report(null);
      return value;
    },
    (error) => {
      report(error);
      throw error;
    },
  );
}

SchemaBuilder.registerPlugin(ROOT_FIELDS, RootFieldsPlugin);
