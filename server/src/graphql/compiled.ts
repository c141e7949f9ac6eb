import {
  type DocumentNode,
  type FieldNode,
  GraphQLBoolean,
  type GraphQLError,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLString,
  getArgumentValues,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
  visit,
} from 'graphql';
import type { LRUCache } from 'lru-cache';
import { createLRUCache } from '../kernel/lru-cache.ts';
import {
  type FieldOf,
  infoOf as infoOfField,
  isPromise,
  nameOf,
  notIterable,
  notOfType,
  notSerialized,
} from './execution.ts';
import { type Failure, keysOf, type Path, settleFailures } from './failures.ts';
import { collectFields, type Fragments, fragmentsOf, type Variables } from './selections.ts';

/** An operation that is ready to run. `variables` are as `getVariableValues` of graphql makes them. */
export interface CompiledOperation {
  /** `root` is of a subscription what it is told of. */
  (context: unknown, variables: Variables, root?: unknown): CompiledAnswer | Promise<CompiledAnswer>;
  /** How many it is made of, wherever they are written. */
  readonly fields: number;
}

export interface CompiledAnswer {
  /** As JSON. */
  data: string;
  /** In the order of the document, and the same whichever came first. */
  errors: readonly GraphQLError[];
}

/**
 * A query, or what a subscription answers each event with, made into functions, once, that write JSON. They do what
 * `execute` does, error by error, and ask graphql's own parts for whatever depends on the request; what they do not find out again at each request is which fields there
 * are, of which types, and with which arguments.
 *
 * Null for what is left to `execute`: mutations, directives, abstract types, the schema itself, and
 * what has more than `MOST_FIELDS`, for it would take long, and much room.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | null {
  const rootType = schema.getRootType(operation.operation);
  // Mutations run one behind the other.
  if (!rootType || operation.operation === OperationTypeNode.MUTATION || hasNode(document, Kind.DIRECTIVE))
    return null;
  const compilation: Compilation = {
    ...{ schema, operation, fragments: fragmentsOf(document) },
    fields: 0,
  };
  let write: WriteFields;
  try {
    write = compileFields(compilation, rootType, [operation.selectionSet]);
  } catch (error) {
    if (error === LEFT_TO_EXECUTE) return null;
    throw error;
  }
  const compiled = (context: unknown, variables: Variables, root?: unknown) => {
    const run: Run = { context, variables, root, failures: [] };
    const data = write(root, undefined, run);
    return typeof data === 'string' ? answerOf(run, data) : data.then((text) => answerOf(run, text));
  };
  return Object.assign(compiled, { fields: compilation.fields });
}

function answerOf({ failures }: Run, text: string): CompiledAnswer {
  if (failures.length === 0) return { data: text, errors: [] };
  const { data, errors } = settleFailures(JSON.parse(text), failures);
  return { data: JSON.stringify(data), errors };
}

/** Of all that are kept together. */
const KEPT_BYTES = 8_000_000;
/** A field's functions, and the part of the document that it was made from. */
const FIELD_BYTES = 3_000;

/** Compiled operations, by the operation's name and the document's text; false for an operation left to `execute`. */
export function createCompiled(): LRUCache<string, CompiledOperation | false> {
  return createLRUCache(KEPT_BYTES, bytesOfCompiled);
}

/** Estimates the memory of one compiled operation. */
export function bytesOfCompiled(run: CompiledOperation | false): number {
  return run ? run.fields * FIELD_BYTES : 0;
}

/** To compile so many takes some 25 ms. */
const MOST_FIELDS = 500;
const LEFT_TO_EXECUTE = new Error('left to execute');

interface Compilation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: Fragments;
  /** So far. */
  fields: number;
}

/** One execution. */
interface Run {
  context: unknown;
  variables: Variables;
  root: unknown;
  failures: Failure[];
}

/** What stands in the answer. */
type Text = string | Promise<string>;
/** The members of `source`, which is at `path`. Never throws, and never rejects. */
type WriteFields = (source: unknown, path: Path | undefined, run: Run) => Text;
/** What a value at `path` becomes. Throws, or rejects, where it cannot. */
type Complete = (value: unknown, path: Path | undefined, run: Run) => Text;

// ── Fields ──────────────────────────────────────────────────────────────────────────────────────

/**
 * One function for all members of an object, made from text: so the engine sees, wherever a member is read or something is
 * called, one kind of object and one function, and a list of fifty takes half the time. What is in the text are names of
 * the schema's and the document's, which have letters, digits and `_`, and numbers.
 */
function compileFields(
  compilation: Compilation,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): WriteFields {
  const collected = [...collectIn(compilation, type, selectionSets)];
  compilation.fields += collected.length;
  if (compilation.fields > MOST_FIELDS) throw LEFT_TO_EXECUTE;
  const fields = collected.map(([key, nodes]) => compileField(compilation, type, key, nodes));
  const before = collected.map(([key], index) => `${index === 0 ? '{' : ','}"${key}":`);

  function whole(texts: readonly string[]): string {
    let text = '';
    for (let index = 0; index < texts.length; index += 1) text += before[index]! + texts[index]!;
    return `${text}}`;
  }
  function join(texts: readonly Text[]): Text {
    if (!texts.some(isPromise)) return whole(texts as readonly string[]);
    // Most operations ask for one thing.
    return texts.length === 1
      ? (texts[0] as Promise<string>).then((text) => whole([text]))
      : Promise.all(texts).then(whole);
  }
  /** From the field that threw, one by one. */
  function goOn(texts: readonly Text[], thrown: unknown, source: unknown, path: Path | undefined, run: Run) {
    const failed = fields[texts.length]!.fail(thrown, path, run);
    const rest = fields.slice(texts.length + 1).map((field) => field.write(source, path, run));
    return join([...texts, failed, ...rest]);
  }

  const given: Record<string, unknown> = { PLAIN, join, goOn };
  const steps = fields.map(({ inline, ...field }, index) => {
    for (const [name, value] of Object.entries({ ...field, ...inline?.given }))
      given[`${name}${index}`] = value;
    const step = inline
      ? `v = ${inline.read};
        if (${inline.isPlain}) t# = ${inline.text};
        else { ${inline.quote && `q# = ''; plain = false;`} if (typeof (t# = ${inline.otherwise}) !== 'string') waits = true; }`
      : `if (typeof (t# = write#(source, path, run)) !== 'string') waits = true;`;
    return `at = #; ${step}`.replaceAll('#', String(index));
  });
  const quotes = fields.map(({ inline }) => inline?.quote ?? '');
  const texts = fields.map((_, index) =>
    quotes[index] ? `(q${index} ? q${index} + t${index} + q${index} : t${index})` : `t${index}`,
  );
  // Where all is as most are, the quotes are part of the text between them: there is less to put together.
  const plain = fields.map(
    (_, index) => `'${quotes[index - 1] ?? ''}${before[index]}${quotes[index]}' + t${index}`,
  );
  return new Function(
    ...Object.keys(given),
    `'use strict';
    return (source, path, run) => {
      const object = typeof source === 'object' || typeof source === 'function' ? source : {};
      let at = 0, waits = false, plain = true, v, w;
      let ${fields.map((_, index) => `t${index}, q${index} = '${quotes[index]}'`).join(', ')};
      try {
        ${steps.join('\n')}
      } catch (error) {
        return goOn([${texts.join(', ')}].slice(0, at), error, source, path, run);
      }
      if (waits) return join([${texts.join(', ')}]);
      if (plain) return ${plain.join(' + ')} + '${quotes.at(-1)}}';
      return ${before.map((text, index) => `'${text}' + ${texts[index]}`).join(' + ')} + '}';
    };`,
  )(...Object.values(given));
}

/** There is no condition in what is compiled. */
function collectIn(
  { schema, fragments }: Compilation,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  return collectFields({ schema, fragments, variables: {} }, type, selectionSets);
}

/** A field as it stands in an answer. */
interface Field extends FieldOf {
  compilation: Compilation;
}

interface CompiledField {
  /** Reads it and completes what it is. */
  write: WriteFields;
  /** Completes what was read. Never throws either. */
  settle: Complete;
  /** Null, and a failure. */
  fail(thrown: unknown, parent: Path | undefined, run: Run): string;
  /** The same as `write` in parts of a program, where most of it needs no function of ours. */
  inline: (InlineLeaf & { read: string; otherwise: string; given: Record<string, unknown> }) | null;
}

function compileField(
  compilation: Compilation,
  parentType: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): CompiledField {
  const name = nodes[0]!.name.value;
  const definition = name === TypeNameMetaFieldDef.name ? TypeNameMetaFieldDef : parentType.getFields()[name];
  // `__schema` and `__type`.
  if (!definition) throw LEFT_TO_EXECUTE;
  const field: Field = { compilation, parentType, definition, nodes };
  const { resolve, type } = definition;
  const argumentsOf = compileArguments(field);
  const read = compileRead(field, argumentsOf);
  const complete = compileValue(field, type);
  const isNonNull = isNonNullType(type);
  const pathIn = (prev: Path | undefined): Path => ({ prev, key, typename: parentType.name, isNonNull });
  // A leaf has no need of its place, unless there is an error.
  const needsPath = !isLeafType(getNullableType(type));

  const fail: CompiledField['fail'] = (thrown, parent, run) => {
    const path = pathIn(parent);
    run.failures.push({ path, error: locatedError(thrown, nodes, keysOf(path)) });
    return 'null';
  };
  const settle: Complete = (value, parent, run) => {
    const failed = (thrown: unknown) => fail(thrown, parent, run);
    try {
      const path = needsPath ? pathIn(parent) : undefined;
      if (isPromise(value)) return value.then((resolved) => settle(resolved, parent, run), failed);
      const text = complete(value, path, run);
      return typeof text === 'string' ? text : text.then(undefined, failed);
    } catch (thrown) {
      return fail(thrown, parent, run);
    }
  };
  const write: WriteFields = (source, parent, run) => {
    let value: unknown;
    try {
      value = read(source, () => pathIn(parent), run);
    } catch (thrown) {
      return fail(thrown, parent, run);
    }
    return settle(value, parent, run);
  };

  const { isPlain, text, quote, ...given } = inlineLeaf(getNullableType(type));
  const settled = isNonNull ? 'settle#(v, path, run)' : `v == null ? 'null' : settle#(v, path, run)`;
  const inline = !resolve
    ? {
        read: `object.${name}`,
        otherwise: `typeof v === 'function' ? write#(source, path, run) : ${settled}`,
      }
    : { read: 'resolve#(source, argumentsOf#(run), run.context)', otherwise: settled };
  return {
    ...{ write, settle, fail },
    inline:
      resolve && takesInfo(resolve)
        ? null
        : { ...inline, isPlain, text, quote, given: { ...given, resolve, argumentsOf } },
  };
}

/** What makes JSON of most values of a type at once. In its texts `#` is the number of the field, whose value is `v`. */
interface InlineLeaf {
  /** Whether it is one of those; may leave something in `w` for `text`. */
  isPlain: string;
  text: string;
  /** What stands around the text. */
  quote: '"' | '';
}

function inlineLeaf(type: GraphQLOutputType): InlineLeaf & Record<string, unknown> {
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return { isPlain: `typeof v === 'string' && PLAIN.test(v)`, text: 'v', quote: '"' };
    case GraphQLInt:
      return { isPlain: `typeof v === 'number' && (v | 0) === v`, text: `'' + v`, quote: '' };
    case GraphQLBoolean:
      return { isPlain: `typeof v === 'boolean'`, text: `v ? 'true' : 'false'`, quote: '' };
    default:
  }
  if (isEnumType(type)) {
    const names = new Map<unknown, string>(type.getValues().map(({ name, value }) => [value, `"${name}"`]));
    return { isPlain: '(w = names#.get(v)) !== undefined', text: 'w', quote: '', names };
  }
  const toJson = isLeafType(type) ? (type.extensions as ScalarExtensions).toJson : undefined;
  if (toJson) return { isPlain: '(w = toJson#(v)) !== null', text: 'w', quote: '', toJson };
  return { isPlain: 'false', text: `''`, quote: '' };
}

export interface ScalarExtensions {
  /** A value as JSON in one step, as it would be through `serialize`; null for what that shall look at. */
  toJson?: (value: unknown) => string | null;
}

function compileRead(
  field: Field,
  argumentsOf: (run: Run) => Record<string, unknown>,
): (source: unknown, path: () => Path, run: Run) => unknown {
  const { name, resolve } = field.definition;
  if (resolve)
    return (source, path, run) =>
      resolve(
        source,
        argumentsOf(run),
        run.context,
        takesInfo(resolve) ? infoOf(field, path(), run) : NO_INFO,
      );
  // As `defaultFieldResolver`.
  return (source, path, run) => {
    if ((typeof source !== 'object' || source === null) && typeof source !== 'function') return undefined;
    const member = (source as Record<string, unknown>)[name];
    return typeof member === 'function'
      ? member.call(source, argumentsOf(run), run.context, infoOf(field, path(), run))
      : member;
  };
}

/** Made once, where no variable is in them. */
function compileArguments({ definition, nodes }: Field): (run: Run) => Record<string, unknown> {
  const node = nodes[0]!;
  const fresh = ({ variables }: Pick<Run, 'variables'>) => getArgumentValues(definition, node, variables);
  if (node.arguments?.some((argument) => hasNode(argument, Kind.VARIABLE))) return fresh;
  try {
    const values = fresh({ variables: {} });
    return () => values;
  } catch {
    // The error is each execution's.
    return fresh;
  }
}

/** Whoever names no fourth parameter looks at none. Most do not, and it takes longer to make than they do. */
function takesInfo(resolve: (...given: never[]) => unknown): boolean {
  return resolve.length >= 4;
}

const NO_INFO = undefined as unknown as GraphQLResolveInfo;

function infoOf(field: Field, path: Path, { variables, root }: Run): GraphQLResolveInfo {
  const { schema, operation, fragments } = field.compilation;
  return infoOfField({ schema, operation, fragments, variables, root }, field, path);
}

// ── Values ──────────────────────────────────────────────────────────────────────────────────────

function compileValue(field: Field, type: GraphQLOutputType): Complete {
  if (!isNonNullType(type)) return compileNullable(field, type);
  const complete = compileNullable(field, type.ofType);
  return (value, path, run) => {
    const text = complete(value, path, run);
    // What comes later is of an object or a list: never null.
    if (text !== 'null') return text;
    throw new Error(`Cannot return null for non-nullable field ${nameOf(field)}.`);
  };
}

function compileNullable(field: Field, type: GraphQLOutputType): Complete {
  const complete = compilePresent(field, type);
  return (value, path, run) => {
    if (value instanceof Error) throw value;
    return value == null ? 'null' : complete(value, path, run);
  };
}

function compilePresent(field: Field, type: GraphQLOutputType): Complete {
  if (isListType(type)) return compileList(field, type.ofType);
  if (isLeafType(type)) return compileLeaf(type);
  if (isObjectType(type)) return compileObject(field, type);
  throw LEFT_TO_EXECUTE;
}

function compileList(field: Field, itemType: GraphQLOutputType): Complete {
  const complete = compileValue(field, itemType);
  const isNonNull = isNonNullType(itemType);

  function fail(thrown: unknown, path: Path, run: Run): string {
    run.failures.push({ path, error: locatedError(thrown, field.nodes, keysOf(path)) });
    return 'null';
  }
  function writeItem(item: unknown, path: Path, run: Run): Text {
    try {
      const text = isPromise(item)
        ? item.then((resolved) => complete(resolved, path, run))
        : complete(item, path, run);
      return typeof text === 'string' ? text : text.then(undefined, (thrown) => fail(thrown, path, run));
    } catch (thrown) {
      return fail(thrown, path, run);
    }
  }
  return (value, path, run) => {
    const items = itemsOf(value);
    if (!items) throw notIterable(field);
    let text = '';
    /** All of them, as soon as one is a promise. */
    let waiting: Text[] | null = null;
    for (let index = 0; index < items.length; index += 1) {
      const item = writeItem(items[index], { prev: path, key: index, typename: undefined, isNonNull }, run);
      if (waiting === null && typeof item === 'string') text += index === 0 ? item : `,${item}`;
      else {
        waiting ??= index === 0 ? [] : [text];
        waiting.push(item);
      }
    }
    return waiting ? Promise.all(waiting).then((texts) => `[${texts.join(',')}]`) : `[${text}]`;
  };
}

function itemsOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null && Symbol.iterator in value
    ? Array.from(value as Iterable<unknown>)
    : null;
}

function compileObject(field: Field, type: GraphQLObjectType): Complete {
  const { compilation, nodes } = field;
  const write = compileFields(
    compilation,
    type,
    nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
  );
  const { isTypeOf } = type;
  if (!isTypeOf) return write;
  const assertIs = (value: unknown, is: boolean) => {
    if (!is) throw notOfType(type, value, field);
  };
  return (value, path, run) => {
    const is = isTypeOf(value, run.context, isTypeOf.length < 3 ? NO_INFO : infoOf(field, path!, run));
    if (isPromise(is))
      return is.then((resolved) => {
        assertIs(value, resolved);
        return write(value, path, run);
      });
    assertIs(value, is);
    return write(value, path, run);
  };
}

function compileLeaf(type: GraphQLLeafType): Complete {
  return (value) => {
    const result: unknown = type.serialize(value);
    if (result == null) throw notSerialized(type, value, result);
    return JSON.stringify(result);
  };
}

/** What needs no escape in JSON, and is no half of a surrogate pair. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

function hasNode(root: Parameters<typeof visit>[0], kind: Kind): boolean {
  let found = false;
  visit(root, {
    enter(node) {
      found ||= node.kind === kind;
    },
  });
  return found;
}
