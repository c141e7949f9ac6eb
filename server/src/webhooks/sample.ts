import { z } from 'zod';

/** The part of JSON Schema that the description of an event has. */
interface Schema {
  $ref?: string;
  $defs?: Readonly<Record<string, Schema>>;
  examples?: readonly unknown[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  type?: string;
  format?: string;
  minimum?: number;
  properties?: Readonly<Record<string, Schema>>;
}

/**
 * Creates a body of an event from the examples of its members. Its identifiers have zeros in place of all letters and
 * digits behind their prefix, so they are those of nothing.
 */
export function sampleOf(event: z.ZodObject, now: Date): Record<string, unknown> {
  const root = z.toJSONSchema(event, { io: 'input' }) as Schema;

  function valueFor(schema: Schema): unknown {
    const { $ref, examples, anyOf, oneOf, type, format, minimum, properties } = schema;
    if ($ref !== undefined) return valueFor(root.$defs?.[$ref.split('/').at(-1)!] ?? {});
    if (examples?.length) return examples[0];
    if ('const' in schema) return schema.const;
    if (schema.enum) return schema.enum[0];
    const [first] = anyOf ?? oneOf ?? [];
    if (first) return valueFor(first);
    if (properties) return membersOf(properties);
    if (type === 'integer' || type === 'number') return minimum ?? 1;
    if (type === 'boolean') return false;
    if (type === 'array') return [];
    if (type !== 'string') return null;
    return format === 'date-time' ? now.toISOString() : 'exemplo';
  }

  function membersOf(properties: Readonly<Record<string, Schema>>): Record<string, unknown> {
    const members = Object.entries(properties).map(([name, schema]) => {
      const value = valueFor(schema);
      const isName = typeof value === 'string' && /^(?:id|code)$|(?:Id|Code)$/.test(name);
      return [name, isName ? ofNothing(value) : value] as const;
    });
    return Object.fromEntries(members);
  }

  return membersOf(root.properties ?? {});
}

/** An identifier of the same form that nothing has. */
function ofNothing(id: string): string {
  const prefix = /^[A-Za-z]+(?:_[a-z]+)?[_-]/.exec(id)?.[0] ?? '';
  return prefix + id.slice(prefix.length).replace(/[0-9A-Za-z]/g, '0');
}
