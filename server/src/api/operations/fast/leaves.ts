import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLOutputType,
  GraphQLString,
  isEnumType,
  isLeafType,
} from 'graphql';
import { notSerialized } from '../../graphql/execution.ts';
import type { ScalarExtensions } from '../../graphql/scalars.ts';
import { type Complete, type InlineLeaf, LONG } from './object-writer.ts';

/** Returns code that writes most values of a type, and the values that the code uses. */
export function inlineLeaf(type: GraphQLOutputType): { leaf: InlineLeaf; bindings: Record<string, unknown> } {
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return {
        leaf: {
          isPlain: `typeof v === 'string' && (v.length < ${LONG} ? PLAIN.test(v) : isPlain(v))`,
          text: 'v',
          quote: '"',
        },
        bindings: {},
      };
    case GraphQLInt:
      return {
        leaf: { isPlain: `typeof v === 'number' && (v | 0) === v`, text: `'' + v`, quote: '' },
        bindings: {},
      };
    case GraphQLBoolean:
      return {
        leaf: { isPlain: `typeof v === 'boolean'`, text: `v ? 'true' : 'false'`, quote: '' },
        bindings: {},
      };
    default:
  }
  if (isEnumType(type)) {
    const names = new Map<unknown, string>(type.getValues().map(({ name, value }) => [value, `"${name}"`]));
    return {
      leaf: { isPlain: '(w = names#.get(v)) !== undefined', text: 'w', quote: '' },
      bindings: { names },
    };
  }
  const toJson = isLeafType(type) ? (type.extensions as ScalarExtensions).toJson : undefined;
  if (toJson)
    return { leaf: { isPlain: '(w = toJson#(v)) !== null', text: 'w', quote: '' }, bindings: { toJson } };
  return { leaf: { isPlain: 'false', text: `''`, quote: '' }, bindings: {} };
}

/** Writes any value of a leaf type as graphql serializes it. */
export function compileLeaf(type: GraphQLLeafType): Complete {
  return (value) => {
    const result: unknown = type.serialize(value);
    if (result == null) throw notSerialized(type, value, result);
    return JSON.stringify(result);
  };
}
