import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { DEFAULT_PAGE, LARGEST_PAGE } from '../graphql/paging.ts';

/** Five times as many as a dashboard's largest operation selects. They take half a second of one processor. */
const MAX_LIST_ITEMS = 1_000;
/** The limit of a subscription, which is executed at each change for each subscriber, and not counted as a request. */
const MAX_LIST_ITEMS_OF_UPDATE = 50;

/** The number of items assumed for a list without a page that has others inside it: a payment has at most 20 refunds. */
const ITEMS_WITHOUT_PAGE = 20;

/** The place of fields in an operation. */
interface Place {
  /** Whether the fields are those of a page, whose `nodes` and `edges` are counted already. */
  isOfPage: boolean;
  /** Whether they are inside a list without a page. */
  isInList: boolean;
}
const ROOT: Place = { isOfPage: false, isInList: false };

interface Operation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variableValues?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Refuses an operation that selects too many list items, before it runs; null for one that may run. The limits on documents
 * count fields, and one field may be a list of a hundred payments.
 */
export function tooManyListItems(operation: Operation): GraphQLError | null {
  const items = countListItems(operation);
  const isSubscription =
    getOperationAST(operation.document, operation.operationName)?.operation ===
    OperationTypeNode.SUBSCRIPTION;
  const max = isSubscription ? MAX_LIST_ITEMS_OF_UPDATE : MAX_LIST_ITEMS;
  if (items <= max) return null;
  return new GraphQLError(
    `The operation asks for up to ${items} items of lists, and ${isSubscription ? 'a subscription' : 'one'} may ask for ${max}: give a smaller \`first\` (it is ${DEFAULT_PAGE} where left out), or ask in several operations`,
  );
}

/** The counts that no variable changes, by document and by the name of the operation. */
const fixedCounts = new WeakMap<DocumentNode, Map<string | null, number>>();

/**
 * Sums up the sizes of the pages, and the lookups by reference, which are statements. Inside a list both count as often as
 * the list may have items. A list without a page is short, so a single one is free. Inside another such list it counts with
 * its nodes: a payment has refunds, each refund has the payment, and so on.
 */
export function countListItems({ schema, document, operationName, variableValues }: Operation): number {
  const fixed = fixedCounts.get(document)?.get(operationName ?? null);
  if (fixed !== undefined) return fixed;
  const operation = getOperationAST(document, operationName);
  if (!operation) return 0;
  let readsVariables = false;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  /** Each fragment is counted once for each depth, so fragments that spread each other take no longer than their text. */
  const known = new Map<string, number>();

  function ofSelections(
    type: GraphQLNamedType | undefined,
    { selections }: SelectionSetNode,
    place: Place,
  ): number {
    let items = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) items += ofField(type, selection, place);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) items += ofFragment(selection.name.value, place);
      else
        items += ofSelections(
          selection.typeCondition ? schema.getType(selection.typeCondition.name.value) : type,
          selection.selectionSet,
          place,
        );
    }
    return items;
  }

  function ofFragment(name: string, place: Place): number {
    const key = `${name} ${place.isOfPage} ${place.isInList}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const { typeCondition, selectionSet } = fragments.get(name)!;
    const items = ofSelections(schema.getType(typeCondition.name.value), selectionSet, place);
    known.set(key, items);
    return items;
  }

  function ofField(
    parent: GraphQLNamedType | undefined,
    node: FieldNode,
    { isOfPage, isInList }: Place,
  ): number {
    const field =
      isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (!field) return 0;
    const type = getNamedType(field.type);
    const inside = (place: Place) => (node.selectionSet ? ofSelections(type, node.selectionSet, place) : 0);
    const isList = isListType(getNullableType(field.type));
    const page = pageOf(field, node);
    const isPage = !isList && field.args.some(({ name }) => name === 'first');
    if (page !== null) return page * (1 + inside({ isOfPage: isPage, isInList }));
    if (!isList || isOfPage) return inside({ isOfPage: false, isInList });
    const own = isInList && isNode(type) ? 1 : 0;
    return ITEMS_WITHOUT_PAGE * (own + inside({ isOfPage: false, isInList: true }));
  }

  /**
   * The size of a field's page; null for a field without one. A size that will be refused counts as the nearest valid one,
   * because refusing takes time too.
   */
  function pageOf({ args }: GraphQLField<unknown, unknown>, node: FieldNode): number | null {
    const takes = (name: string) => args.some((arg) => arg.name === name);
    const argumentValue = (name: string) => {
      const argument = node.arguments?.find((each) => each.name.value === name);
      return argument && readSize(argument.value);
    };
    if (takes('first')) {
      const sizes = [argumentValue('first'), argumentValue('last')].filter(
        (size) => typeof size === 'number',
      );
      return sizes.length === 0 ? DEFAULT_PAGE : Math.min(LARGEST_PAGE, Math.max(1, ...sizes));
    }
    if (takes('reference')) return 1;
    const list = ['ids', 'representations'].find(takes);
    if (!list) return null;
    const ids = argumentValue(list);
    return Array.isArray(ids) ? ids.length : 1;
  }

  function readSize(value: ValueNode): unknown {
    if (value.kind === Kind.INT) return Number(value.value);
    if (value.kind === Kind.LIST) return value.values;
    if (value.kind !== Kind.VARIABLE) return undefined;
    readsVariables = true;
    const name = value.name.value;
    // A variable may be called `constructor`.
    if (variableValues && Object.hasOwn(variableValues, name)) return variableValues[name];
    const definition = operation!.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    return definition?.defaultValue && readSize(definition.defaultValue);
  }

  const items = ofSelections(
    schema.getRootType(operation.operation) ?? undefined,
    operation.selectionSet,
    ROOT,
  );
  if (!readsVariables) {
    const counts = fixedCounts.get(document) ?? new Map<string | null, number>();
    fixedCounts.set(document, counts.set(operationName ?? null, items));
  }
  return items;
}

function isNode(type: GraphQLNamedType): boolean {
  return isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');
}
