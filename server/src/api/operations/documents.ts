import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  OperationTypeNode,
  type ParseOptions,
  type SelectionSetNode,
  type Source,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { createLRUCache } from '../../kernel/lru-cache.ts';
import { parseDocument, refuseTooLarge } from '../graphql/limits.ts';
import { findPlaces } from '../graphql/literals.ts';
import { type Fragments, fragmentsOf } from '../graphql/selections.ts';
import { refuseAliases } from './subscription-aliases.ts';

/** The limit on all cached documents together. */
const CACHE_BYTES = 8_000_000;
/** The memory of a token of the text, with its share of the nodes. In the densest documents it was 490 bytes. */
const TOKEN_BYTES = 500;
const DOCUMENT_BYTES = 1_000;

const bytes = new WeakMap<DocumentNode, number>();

/** The memory that a parsed document takes. */
export function bytesOf(document: DocumentNode): number {
  const known = bytes.get(document);
  if (known !== undefined) return known;
  let count = 0;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) count += 1;
  const size = DOCUMENT_BYTES + count * TOKEN_BYTES + 2 * (document.loc?.source.body.length ?? 0);
  bytes.set(document, size);
  return size;
}

/**
 * Parses and validates the documents of any client. A valid document is cached. An invalid one is parsed and refused each
 * time: an error retains its stack, and with it its whole request.
 */
export function documentsPlugin(): Plugin {
  const allowed = createLRUCache<DocumentNode>(CACHE_BYTES, bytesOf);
  const valid = new WeakSet<DocumentNode>();
  return {
    onParse({ params, setParsedDocument, setParseFn }) {
      const known = allowed.get(textOf(params.source));
      if (known) setParsedDocument(known);
      else
        setParseFn((source: string | Source, options: ParseOptions) =>
          parseDocument(copyText(textOf(source)), options),
        );
    },
    onValidate({ params: { documentAST: document, schema }, setResult }) {
      if (valid.has(document)) return setResult([]);
      // The limits are checked before GraphQL's rules, because some rules compare each field with each other.
      const refused = refuseTooLarge(document);
      if (refused.length === 0)
        refused.push(...refuseConditions(document), ...refuseAliases(schema, document));
      if (refused.length > 0) return setResult(refused);
      return ({ valid: isValid, result }) => {
        if (!isValid) return findPlaces(document, result as GraphQLError[]);
        valid.add(document);
        dropTokens(document);
        if (document.loc) allowed.set(document.loc.source.body, document);
      };
    },
  };
}

/** Drops the tokens of a document, because only messages about an invalid document read them. */
function dropTokens(document: DocumentNode): void {
  bytesOf(document);
  visit(document, {
    enter({ loc }) {
      Object.assign(loc ?? {}, { startToken: null, endToken: null });
    },
  });
}

/**
 * Refuses `@skip` and `@include` at the root of a subscription, as the specification does: a stream has one field, whatever
 * the variables are. The rule of graphql throws for a condition that is a variable, and its execution throws if no field is
 * left.
 */
function refuseConditions(document: DocumentNode): GraphQLError[] {
  const fragments = fragmentsOf(document);
  return document.definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
    if (definition.operation !== OperationTypeNode.SUBSCRIPTION) return [];
    const nodes = rootConditions(definition.selectionSet, fragments, new Set());
    if (nodes.length === 0) return [];
    return [new GraphQLError('A subscription may not have @skip or @include at its root', { nodes })];
  });
}

function rootConditions(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  visited: Set<string>,
): DirectiveNode[] {
  return selections.flatMap((selection) => {
    const own = (selection.directives ?? []).filter(({ name }) => CONDITIONS.has(name.value));
    if (selection.kind === Kind.FIELD) return own;
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return [...own, ...rootConditions(selection.selectionSet, fragments, visited)];
    const fragment = fragments[selection.name.value];
    if (!fragment || visited.has(selection.name.value)) return own;
    visited.add(selection.name.value);
    return [...own, ...rootConditions(fragment.selectionSet, fragments, visited)];
  });
}

const CONDITIONS: ReadonlySet<string> = new Set([GraphQLSkipDirective.name, GraphQLIncludeDirective.name]);

function textOf(source: string | Source): string {
  return typeof source === 'string' ? source : source.body;
}

/**
 * Copies a text: a slice of a longer one, such as a URL, would keep all of that in memory. A text with half of a surrogate
 * pair, which UTF-8 cannot encode, is not copied: it is refused, and not cached.
 */
function copyText(text: string): string {
  return text.isWellFormed() ? Buffer.from(text).toString() : text;
}
