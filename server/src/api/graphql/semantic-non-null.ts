import { DirectiveLocation, GraphQLDirective, type GraphQLField, GraphQLInt, GraphQLList } from 'graphql';

const NAME = 'semanticNonNull';

/** The directive of the nullability working group, as the compiler of Relay defines it. */
export const SEMANTIC_NON_NULL = new GraphQLDirective({
  name: NAME,
  description:
    'The field is null only where errors has an entry with its path. A client that reads the errors may treat it as non-null: Relay with @throwOnFieldError or @catch, Apollo Kotlin with @catch.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLList(GraphQLInt),
      defaultValue: [0],
      description: 'The depths in a list that this holds for: 0 is the field itself.',
    },
  },
});

/** The extensions of a field that has the directive, in the form that tools for schemas in code share. */
export const semanticNonNullExtensions = { directives: { [NAME]: {} } };

/** Whether a field has the directive. */
export function isSemanticNonNull({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean {
  const { directives } = extensions as { directives?: Record<string, unknown> };
  return directives !== undefined && NAME in directives;
}
