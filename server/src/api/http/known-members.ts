import { z } from 'zod';
import type { FieldError } from '../../kernel/errors.ts';
import { closestName, shownName } from './names.ts';

/** A JSON Schema, as far as it defines the members of an input. */
interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** Closes the objects of a JSON Schema that Zod makes: they have the members of their schema, and no others. */
export function closeObject({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (jsonSchema.properties) jsonSchema.additionalProperties = false;
}

/**
 * Lists the members of an input that its schema does not have, at each depth, `max` at most. If they were ignored, a
 * misspelled member would not limit the effect: a partial refund would become a full one.
 */
export function unknownMembers(schema: z.ZodType, input: unknown, max: number): FieldError[] {
  const found: FieldError[] = [];

  function look(value: unknown, schemas: readonly Schema[], path: readonly string[]): void {
    if (typeof value !== 'object' || value === null || found.length >= max) return;
    if (Array.isArray(value)) {
      const items = alternatives(schemas.flatMap((each) => each.items ?? []));
      if (items.length > 0)
        for (const [index, item] of value.entries()) look(item, items, [...path, `${index}`]);
      return;
    }
    const objects = schemas.flatMap(({ properties }) => (properties ? [properties] : []));
    // The value has another type than the schema; the schema's own error reports that.
    if (objects.length === 0) return;
    for (const [name, member] of Object.entries(value)) {
      const members = objects.flatMap((properties) =>
        Object.hasOwn(properties, name) ? properties[name]! : [],
      );
      if (members.length > 0) look(member, alternatives(members), [...path, name]);
      else if (found.length < max)
        found.push({
          path: [...path, shownName(name)].join('.'),
          message: messageFor(name, objects.flatMap(Object.keys)),
        });
    }
  }

  look(input, alternatives([inputSchema(schema)]), []);
  return found;
}

function messageFor(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  if (meant !== null) return `is unknown; ${meant} may be meant`;
  return known.length > 0
    ? `is unknown; known are ${known.join(', ')}`
    : 'is unknown: no member is known here';
}

/** Whether an input has a member of this name at its top. */
export function hasMember(schema: z.ZodType, name: string): boolean {
  return alternatives([inputSchema(schema)]).some(({ properties = {} }) => Object.hasOwn(properties, name));
}

function alternatives(schemas: readonly Schema[]): Schema[] {
  return schemas.flatMap((each) => {
    // An object may say besides which of its members are given together.
    const inside = each.properties ? undefined : (each.anyOf ?? each.oneOf);
    return inside ? alternatives(inside) : [each];
  });
}

/** The JSON Schema of each input, cached: creating one takes longer than all its checks. */
const described = new WeakMap<z.ZodType, Schema>();

function inputSchema(schema: z.ZodType): Schema {
  let known = described.get(schema);
  if (!known) {
    known = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
    described.set(schema, known);
  }
  return known;
}
