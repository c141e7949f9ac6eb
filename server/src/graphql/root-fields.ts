import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { type Context, callerOf } from './context.ts';

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
    return field.kind === 'Query' || field.kind === 'Mutation' ? admitted(resolve) : resolve;
  }

  override wrapSubscribe(
    subscribe: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    return subscribe && admitted(subscribe);
  }
}

function admitted<Types extends SchemaTypes>(
  resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
): GraphQLFieldResolver<unknown, Types['Context'], object> {
  return (parent, args, context, info) => {
    callerOf(context as Context);
    const admission = (context as Context).takeRootField();
    const begin = () => resolve(parent, args, context, info);
    return admission ? admission.then(begin) : begin();
  };
}

SchemaBuilder.registerPlugin(ROOT_FIELDS, RootFieldsPlugin);
