import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { type ExecutionResult, GraphQLError, type GraphQLFieldResolver } from 'graphql';
import { behindChange } from '../kernel/errors.ts';
import { isTracing, withSpanEntered } from '../kernel/traces.ts';
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

/** Every root field, however it is aliased, needs a credential and counts once against the caller's limit. */
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
    const begunAt = clock.ms();
    const tell = (error: unknown) => onRootField(kind, name, error, clock.ms() - begunAt);
    const begin = kind === 'mutation' ? change : () => resolve(parent, args, context, info);
    async function change() {
      const result = await resolve(parent, withKeyOfHeader(args, context), context, info);
      changed.add(context);
      markReplay(result, context, info.operation.selectionSet.selections.length === 1);
      return result;
    }
    const answer = () => {
      callerOf(context as Context);
      const admission = (context as Context).takeRootField();
      return admission ? admission.then(begin) : begin();
    };
    // Over a WebSocket nothing has begun before it.
    if (isTracing()) return withSpanEntered(traceName, attributes, () => reportOutcome(answer, tell));
    return reportOutcome(answer, tell);
  };
}

/** The contexts of operations in which a mutation field has ended well. */
const changed = new WeakSet<object>();

/** A result in which no outage says that nothing was done, where a field of the operation has changed something. */
export function behindChanges(result: ExecutionResult, context: object): ExecutionResult {
  if (!result.errors || !changed.has(context)) return result;
  const errors = result.errors.map((error) => {
    const cause = behindChange(error.originalError);
    if (cause === error.originalError) return error;
    const { message, nodes = null, path = null } = error;
    return new GraphQLError(message, { nodes, path, originalError: cause as Error });
  });
  return { ...result, errors };
}

/** However it ends, at once or later: with null, or with what it was refused with. */
function reportOutcome(answer: () => unknown, tell: (error: unknown) => void): unknown {
  let result: unknown;
  try {
    result = answer();
  } catch (error) {
    tell(error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    tell(null);
    return result;
  }
  return result.then(
    (value) => {
      tell(null);
      return value;
    },
    (error) => {
      tell(error);
      throw error;
    },
  );
}

SchemaBuilder.registerPlugin(ROOT_FIELDS, RootFieldsPlugin);
