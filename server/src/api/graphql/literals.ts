import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  isScalarType,
  Kind,
  visit,
} from 'graphql';

/** Adds to the error of a scalar the place of the literal that it refuses: graphql gives none. */
export function locateLiterals(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type)) continue;
    const parse = type.parseLiteral.bind(type);
    type.parseLiteral = (node, variables) => {
      try {
        return parse(node, variables);
      } catch (error) {
        if (!(error instanceof GraphQLError) || error.nodes) throw error;
        throw new GraphQLError(error.message, { nodes: node });
      }
    };
  }
}

const places = new WeakMap<GraphQLError, string>();

/** The beginning of an error's message that names the argument whose literal is refused; empty for any other error. */
export function placeOf(error: GraphQLError): string {
  return places.get(error) ?? '';
}

/** Finds the arguments whose literals the errors are about. */
export function findPlaces(document: DocumentNode, errors: readonly GraphQLError[]): void {
  const refused = new Map<ASTNode, GraphQLError[]>();
  for (const error of errors) {
    const [node] = error.nodes ?? [];
    if (node && LITERALS.has(node.kind)) refused.set(node, [...(refused.get(node) ?? []), error]);
  }
  if (refused.size === 0) return;
  visit(document, {
    enter(node, _key, parent, path, ancestors) {
      const found = refused.get(node);
      const place = found && describe([...ancestors, ...(parent ? [parent] : []), node], path);
      if (place) for (const error of found) places.set(error, `${place}; `);
    },
  });
}

const LITERALS = new Set<Kind>([
  ...[Kind.INT, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN, Kind.NULL, Kind.ENUM],
  ...[Kind.LIST, Kind.OBJECT, Kind.OBJECT_FIELD],
]);

/** Describes the place of the last node, as graphql does for the value of a variable. */
function describe(
  nodes: readonly (ASTNode | readonly ASTNode[])[],
  path: readonly (string | number)[],
): string | null {
  let root: string | null = null;
  let place = '';
  for (const [index, node] of nodes.entries()) {
    if ('kind' in node) {
      if (node.kind === Kind.ARGUMENT) {
        place = node.name.value;
        root = `Argument "${place}" got invalid value`;
      } else if (node.kind === Kind.VARIABLE_DEFINITION) {
        place = node.variable.name.value;
        root = `Variable "$${place}" got invalid default value`;
      } else if (node.kind === Kind.OBJECT_FIELD) place += `.${node.name.value}`;
    } else {
      const list = nodes[index - 1];
      if (list && 'kind' in list && list.kind === Kind.LIST) place += `[${path[index]}]`;
    }
  }
  if (root === null) return null;
  return /[.[]/.test(place) ? `${root} at "${place}"` : root;
}
