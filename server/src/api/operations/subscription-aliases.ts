import {
  type DocumentNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsOf } from '../graphql/selections.ts';

/** The aliases of one field of a type in a subscription. A query is answered once, a subscription at each change. */
const MAX_ALIASES_OF_FIELD = 10;

/**
 * Refuses a subscription that selects a field under too many aliases, wherever in its operation; a fragment counts wherever it
 * is spread. For a document that is not too large. It may not be valid: other rules report what does not exist.
 */
export function refuseAliases(schema: GraphQLSchema, document: DocumentNode): GraphQLError[] {
  const fragments = fragmentsOf(document);
  const refused = new Set<string>();

  function count(
    type: GraphQLCompositeType,
    { selections }: SelectionSetNode,
    aliases: Map<string, number>,
    within: readonly object[],
  ): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const field =
          isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : null;
        if (!field) continue;
        if (selection.alias) {
          const name = `${type.name}.${field.name}`;
          aliases.set(name, (aliases.get(name) ?? 0) + 1);
          if (aliases.get(name)! > MAX_ALIASES_OF_FIELD) refused.add(name);
        }
        const inner = getNamedType(field.type);
        if (selection.selectionSet && isCompositeType(inner))
          count(inner, selection.selectionSet, aliases, within);
        continue;
      }
      const spread = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      // Another rule refuses a fragment inside itself.
      if (!spread || within.includes(spread)) continue;
      const condition = spread.typeCondition ? schema.getType(spread.typeCondition.name.value) : type;
      if (isCompositeType(condition)) count(condition, spread.selectionSet, aliases, [...within, spread]);
    }
  }

  const root = schema.getSubscriptionType();
  for (const definition of document.definitions)
    if (
      root &&
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.operation === OperationTypeNode.SUBSCRIPTION
    )
      count(root, definition.selectionSet, new Map(), []);
  return [...refused].map(
    (name) =>
      new GraphQLError(`A subscription selects ${name} under at most ${MAX_ALIASES_OF_FIELD} aliases`),
  );
}
