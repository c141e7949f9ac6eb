import {
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { type FieldOf, takesInfo } from '../../graphql/execution.ts';
import type { Fragments } from '../../graphql/selections.ts';

/** An operation that is being compiled. */
export interface Compilation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: Fragments;
  /** The number of fields compiled so far. */
  fieldCount: number;
  fields: Field[];
}

/** Drops the document of a subscription, which lives for hours: no field of it reads more of the document than its own place. */
export function dropParsed(compilation: Compilation): void {
  const { operation, fields } = compilation;
  compilation.fields = [];
  const readsInfo = ({ definition: { resolve } }: Field) => resolve && takesInfo(resolve);
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION || fields.some(readsInfo)) return;
  for (const field of fields) field.nodes = field.nodes.map(({ selectionSet: _, ...node }) => node);
  compilation.operation = { ...operation, selectionSet: { kind: Kind.SELECTION_SET, selections: [] } };
  compilation.fragments = {};
}

/** A field of the operation. */
export interface Field extends FieldOf {
  compilation: Compilation;
  nodes: readonly FieldNode[];
}
