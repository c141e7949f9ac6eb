import { ValidationError } from '../../kernel/errors.ts';
import {
  describeResource,
  findForeignId,
  foreignIdMessage,
  isIdArgument,
  type ResourceName,
  resourceOf,
} from '../../kernel/resource-ids.ts';

/** The root fields by their names, and whether they have one `input`. */
const rootFields = new Map<string, { hasInput: boolean }>();

/** Registers a root field as one that the refusal of a foreign id may name. */
export function registerRootField(name: string, args: object): void {
  rootFields.set(name, { hasInput: 'input' in args });
}

/**
 * Makes the check of a root field's arguments, of its input and of its filter; null if none of them takes an id. An id of
 * another resource is refused with the operation that takes it.
 */
export function foreignIdCheck(field: string, args: object): ((values: object) => void) | null {
  const names = Object.keys(args);
  const direct = names.filter((name) => isIdArgument(name) && isReference(name, field));
  const objects = names.filter((name) => name === 'input' || name === 'filter');
  if (direct.length + objects.length === 0) return null;
  return (values) => {
    const given = values as Record<string, unknown>;
    for (const name of direct) refuse(field, name, name, given[name]);
    // In a filter `reference` and `code` are texts of the merchant, too.
    for (const object of objects)
      for (const [name, value] of Object.entries(given[object] ?? {}))
        if (name !== 'reference' && name !== 'code') refuse(field, `${object}.${name}`, name, value);
  };
}

/** `reference` and `code` are ids only where the field is about payouts. */
function isReference(name: string, field: string): boolean {
  return (name !== 'reference' && name !== 'code') || /payout/i.test(field);
}

/** @throws ValidationError */
function refuse(field: string, path: string, argument: string, value: unknown): void {
  if (isIdArgument(argument) && isNodeId(value))
    throw new ValidationError([{ path, message: 'is the id of a node: use node(id:)' }]);
  const foreign = findForeignId(argument, value);
  if (!foreign) return;
  throw new ValidationError([
    { path, message: foreignIdMessage(foreign.meant, operationFor(field, foreign)) },
  ]);
}

/** The words of the refusal of a text that is no id of a node. */
export function notANodeId(text: string): string {
  const meant = resourceOf(text);
  return meant === null ? 'is not an id of this server' : foreignIdMessage(meant, lookup(meant));
}

/** The characters of base64: most ids have others, and need no decoding. */
const BASE64 = /^[A-Za-z0-9+/]+=*$/;

/** Whether a text is the id of a node, which `node(id:)` takes and a look-up by the resource's own id does not. */
function isNodeId(text: unknown): boolean {
  if (typeof text !== 'string' || !BASE64.test(text)) return false;
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return (
    /^[A-Z][A-Za-z]*:[ -~]+$/.test(decoded) && Buffer.from(decoded, 'latin1').toString('base64') === text
  );
}

/** The operation that does the same with the resource that is meant, or looks it up if none does. */
function operationFor(
  field: string,
  { taken, meant }: { taken: ResourceName | null; meant: ResourceName },
): string {
  if (taken === null) return lookup(meant);
  const name = field.startsWith(taken)
    ? meant + field.slice(taken.length)
    : field.replace(capital(taken), capital(meant));
  const sibling = name === field ? undefined : rootFields.get(name);
  if (!sibling) return lookup(meant);
  const { argument } = describeResource(meant);
  return sibling.hasInput ? `${name}(input: { ${argument}: … })` : call(name, meant);
}

function lookup(meant: ResourceName): string {
  return call(meant, meant);
}

function call(name: string, meant: ResourceName): string {
  const { argument } = describeResource(meant);
  return meant === 'subaccountPayout' ? `${name}(subaccountId:, ${argument}:)` : `${name}(${argument}:)`;
}

function capital(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
