import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  type ParseOptions,
  parse,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql';

/** The limits on one document. A dashboard's largest document uses a tenth of each; GraphiQL's introspection is 14 deep. */
const LIMITS = {
  tokens: 2_000,
  brackets: 100,
  depth: 15,
  rootFields: 50,
  aliases: 100,
  directives: 50,
  fields: 2_000,
  repeats: 50,
} as const;

/** The limit on wrong variables in a response: graphql repeats the whole input for each of them. */
export const MAX_WRONG_VARIABLES = 5;

const UNITS: Record<Exclude<keyof typeof LIMITS, 'tokens'>, string> = {
  brackets: 'brackets inside each other',
  depth: 'levels of fields',
  rootFields: 'fields at the root of an operation',
  aliases: 'aliases in an operation',
  directives: 'directives',
  fields: 'fields in an operation, counted as often as their fragments are spread',
  repeats: 'fields that are answered under one name in one place',
};

/**
 * Parses the documents of any client. graphql's `parse` calls itself at each bracket, and 2,000 of them overflow the stack,
 * which would be reported as an internal fault.
 * @throws GraphQLError
 */
export function parseDocument(source: string, options: ParseOptions = {}): DocumentNode {
  if (deepestBracket(source) > LIMITS.brackets) throw tooLarge('brackets');
  return parse(source, { ...options, maxTokens: LIMITS.tokens });
}

function deepestBracket(source: string): number {
  // Nearly every document has fewer brackets, and counting them is faster than finding which of them are in strings.
  const opened = source.match(/[[{(]/g)?.length ?? 0;
  if (opened <= LIMITS.brackets) return opened;
  const lexer = new Lexer(new Source(source));
  let depth = 0;
  let deepest = 0;
  for (let count = 0; count <= LIMITS.tokens; count += 1) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) break;
    if (OPENS.has(kind)) depth += 1;
    else if (CLOSES.has(kind)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const OPENS = new Set<TokenKind>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSES = new Set<TokenKind>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function tooLarge(name: keyof typeof UNITS): GraphQLError {
  return new GraphQLError(`The document is too large: at most ${LIMITS[name]} ${UNITS[name]}`);
}

/**
 * The fields of an operation; those of a fragment count wherever it is spread. The document must have passed
 * `refuseTooLarge`.
 */
export function countFields(document: DocumentNode, { selectionSet }: OperationDefinitionNode): number {
  return createSizes(fragmentsIn(document)).of(selectionSet).fields;
}

function fragmentsIn({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  return fragments;
}

interface Size {
  depth: number;
  fields: number;
  aliases: number;
}

/**
 * Refuses a document that is too large, before it is validated. The fields of a fragment count wherever it is spread, as
 * often as they would be executed. A cycle of fragments ends here; another rule reports it.
 */
export function refuseTooLarge(document: DocumentNode): GraphQLError[] {
  return excesses(document).map(tooLarge);
}

function excesses(document: DocumentNode): (keyof typeof UNITS)[] {
  const fragments = fragmentsIn(document);
  const sizes = createSizes(fragments);

  const found: (keyof typeof UNITS)[] = [];
  const check = (name: keyof typeof UNITS, size: number) => {
    if (size > LIMITS[name]) found.push(name);
  };
  for (const definition of document.definitions) {
    // graphql compares the fields of a fragment even if no operation spreads it.
    if (definition.kind === Kind.FRAGMENT_DEFINITION && found.length === 0)
      check('repeats', mostRepeats(definition.selectionSet, fragments));
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, fields, aliases } = sizes.of(definition.selectionSet);
    check('depth', depth);
    check('fields', fields);
    check('aliases', aliases);
    check('rootFields', sizes.ownFields(definition.selectionSet));
    if (found.length === 0) check('repeats', mostRepeats(definition.selectionSet, fragments));
  }
  check('directives', countDirectives(document));
  return found;
}

/** Measures each fragment once, so that fragments which spread each other take no longer than their text. */
function createSizes(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, Size>();
  const knownOwn = new Map<string, number>();
  const NONE: Size = { depth: 0, fields: 0, aliases: 0 };

  function ofFragment(name: string): Size {
    const size = known.get(name);
    if (size) return size;
    known.set(name, NONE);
    const fragment = fragments.get(name);
    const measured = fragment ? of(fragment.selectionSet) : NONE;
    known.set(name, measured);
    return measured;
  }

  function of({ selections }: SelectionSetNode): Size {
    const total = { ...NONE };
    for (const selection of selections) {
      const isField = selection.kind === Kind.FIELD;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : selection.selectionSet
            ? of(selection.selectionSet)
            : NONE;
      total.depth = Math.max(total.depth, inner.depth + (isField ? 1 : 0));
      total.fields += inner.fields + (isField ? 1 : 0);
      total.aliases += inner.aliases + (isField && selection.alias ? 1 : 0);
    }
    return total;
  }

  function ownFields({ selections }: SelectionSetNode): number {
    let count = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) count += 1;
      else if (selection.kind === Kind.INLINE_FRAGMENT) count += ownFields(selection.selectionSet);
      else count += ownFieldsOfFragment(selection.name.value);
    }
    return count;
  }

  function ownFieldsOfFragment(name: string): number {
    const count = knownOwn.get(name);
    if (count !== undefined) return count;
    knownOwn.set(name, 0);
    const fragment = fragments.get(name);
    const measured = fragment ? ownFields(fragment.selectionSet) : 0;
    knownOwn.set(name, measured);
    return measured;
  }

  return { of, ownFields };
}

/** A response name: the number of fields that have it, and, if they are objects, the names inside them. */
interface ResponseName {
  fields: number;
  inner: Map<string, ResponseName>;
}

/**
 * The largest number of fields with one response name in one place. graphql compares them with each other to see whether
 * they agree: two thousand would be millions of comparisons.
 */
function mostRepeats(
  selectionSet: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  let most = 0;
  /**
   * The number of visited selections, which is limited too: fragments that spread each other may be many without any fields.
   */
  let steps = 0;
  const within = new Set<object>();

  function fill(parent: ResponseName, { selections }: SelectionSetNode): void {
    for (const selection of selections) {
      steps += 1;
      if (steps > 2 * LIMITS.fields) {
        most = Number.POSITIVE_INFINITY;
        return;
      }
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const child = parent.inner.get(name) ?? { fields: 0, inner: new Map() };
        parent.inner.set(name, child);
        child.fields += 1;
        most = Math.max(most, child.fields);
        if (selection.selectionSet) fill(child, selection.selectionSet);
      } else {
        const spread =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
        // Another rule refuses a fragment inside itself.
        if (!spread || within.has(spread)) continue;
        within.add(spread);
        fill(parent, spread.selectionSet);
        within.delete(spread);
      }
    }
  }

  fill({ fields: 0, inner: new Map() }, selectionSet);
  return most;
}

function countDirectives(document: DocumentNode): number {
  let count = 0;
  const walk = (selectionSet: SelectionSetNode) => {
    for (const selection of selectionSet.selections) {
      count += selection.directives?.length ?? 0;
      if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet) walk(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION)
      continue;
    count += definition.directives?.length ?? 0;
    walk(definition.selectionSet);
  }
  return count;
}
