import {
  type GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  type ObjectTypeDefinitionNode,
  parse,
  printSchema,
} from 'graphql';
import { isSemanticNonNull, SEMANTIC_NON_NULL } from './semantic-non-null.ts';

/** Prints a schema sorted, with the directive: `printSchema` leaves directives of fields out. */
export function printSorted(schema: GraphQLSchema): string {
  const sorted = lexicographicSortSchema(schema);
  const text = printSchema(sorted);
  let printed = '';
  let end = 0;
  for (const definition of parse(text).definitions) {
    const type = definition.kind === Kind.OBJECT_TYPE_DEFINITION && sorted.getType(definition.name.value);
    if (!isObjectType(type)) continue;
    for (const field of (definition as ObjectTypeDefinitionNode).fields ?? [])
      if (isSemanticNonNull(type.getFields()[field.name.value]!)) {
        printed += `${text.slice(end, field.type.loc!.end)} @${SEMANTIC_NON_NULL.name}`;
        end = field.type.loc!.end;
      }
  }
  return `${printed}${text.slice(end)}\n`;
}
