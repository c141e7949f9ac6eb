import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  print,
  visit,
} from 'graphql';
import type { Context } from '../graphql/context.ts';
import { execute } from '../graphql/execution.ts';
import { countFields } from '../graphql/limits.ts';
import { fragmentsOf, type Variables } from '../graphql/selections.ts';
import { bytesOf } from './documents.ts';

/** The result of an operation, with its data as an object or as JSON. */
export interface OperationResult {
  readonly data?: object | string | null | undefined;
  readonly errors?: readonly GraphQLError[] | undefined;
}

/** Executes the updates of an operation, one by one, for all subscriptions that have it. */
export type UpdatePlan = (
  item: object,
  context: Context,
  variables: Variables,
) => OperationResult | Promise<OperationResult>;

export interface PlannedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}
export type CreatePlan = (operation: PlannedOperation) => UpdatePlan;

/** Finds the plan of an operation by its key, or makes it. */
export type FindPlan = (key: string, operation: PlannedOperation) => UpdatePlan;

/** Creates the plan that executes the document as it is. */
export const createPlan: CreatePlan = ({ schema, document, operation }) => {
  const operationName = operation.name?.value;
  return (item, context, variables) =>
    execute({
      schema,
      document,
      operationName,
      rootValue: item,
      contextValue: context,
      coercedVariables: variables,
    });
};

/** Shares the plans of open subscriptions. A plan lives as long as one of them. */
export function createPlans(create: CreatePlan): FindPlan {
  const plans = new Map<string, WeakRef<UpdatePlan>>();
  const ended = new FinalizationRegistry<string>((key) => {
    if (plans.get(key)?.deref() === undefined) plans.delete(key);
  });
  return (key, { schema, document, operation }) => {
    const known = plans.get(key)?.deref();
    if (known) return known;
    const plan = create({ schema, document: partOf(document, operation), operation });
    plans.set(key, new WeakRef(plan));
    ended.register(plan, key);
    return plan;
  };
}

/** The definitions that an operation needs: a plan does not hold the rest of the document. */
function partOf(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const fragments = fragmentsOf(document);
  const definitions = new Set<DocumentNode['definitions'][number]>([operation]);
  // The loop also visits the definitions that are added to the set meanwhile.
  for (const definition of definitions)
    visit(definition, {
      FragmentSpread({ name }) {
        const fragment = fragments[name.value];
        if (fragment) definitions.add(fragment);
      },
    });
  return { kind: Kind.DOCUMENT, definitions: [...definitions] };
}

/** The memory of a field of a compiled operation: its functions, and the part of the document that they are compiled from. */
export const FIELD_BYTES = 3_000;
/** The limit on the fields of a compiled operation: compiling this many takes about 25 ms. */
export const MAX_FIELDS = 500;

export interface DescribedOperation {
  /** The key of the document and the operation in it. */
  readonly key: string;
  /** The memory of its plan, whichever it is. */
  readonly bytes: number;
  /** The names of the variables that its updates depend on. */
  readonly variables: readonly string[];
}

const described = new WeakMap<OperationDefinitionNode, DescribedOperation>();

export function describeOperation(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): DescribedOperation {
  const known = described.get(operation);
  if (known) return known;
  const cursorVariable = cursorVariableOf(document, operation);
  const fields = countFields(document, operation);
  const description: DescribedOperation = {
    key: createHash('sha256')
      .update(JSON.stringify([operation.name?.value, textOf(document)]))
      .digest('base64'),
    bytes: Math.max(bytesOf(document), fields > MAX_FIELDS ? 0 : fields * FIELD_BYTES),
    variables: (operation.variableDefinitions ?? [])
      .map(({ variable }) => variable.name.value)
      .filter((name) => name !== cursorVariable),
  };
  described.set(operation, description);
  return description;
}

/** The text that the document was parsed from. */
export function textOf(document: DocumentNode): string {
  return document.loc?.source.body ?? print(document);
}

/**
 * The variable that is the root field's `after` and is used nowhere else: it only sets the start of the subscription.
 * Null if there is none.
 */
function cursorVariableOf(document: DocumentNode, operation: OperationDefinitionNode): string | null {
  const [root] = operation.selectionSet.selections;
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined;
  const name = after?.kind === Kind.VARIABLE ? after.name.value : null;
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable(variable) {
      if (variable.name.value === name) uses += 1;
    },
  });
  return uses === 1 ? name : null;
}
