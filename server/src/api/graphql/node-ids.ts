import { encodeGlobalID } from '@pothos/plugin-relay';
import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

/** The options that the relay plugin keeps of a node's type. */
interface NodeOptions {
  id?: { resolve: GraphQLFieldResolver<unknown, unknown, unknown> };
}

/**
 * Makes the ids of nodes without a promise. The resolver of the relay plugin is asynchronous: each row of a list that selects
 * `id` would wait for one, and so would each update of a subscription.
 */
export function resolveIdsSynchronously(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    const options = type.extensions.pothosOptions as NodeOptions | undefined;
    if (!options?.id) continue;
    const resolve = options.id.resolve as (...[node, args, context]: unknown[]) => unknown;
    type.getFields().id!.resolve = (node, args, context) =>
      encodeGlobalID(type.name, String(resolve(node, args, context)));
  }
}
