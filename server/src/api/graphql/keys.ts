import { z } from 'zod';
import { callerOf } from '../../kernel/caller.ts';
import { ValidationError } from '../../kernel/errors.ts';
import type { KeyedOperation } from '../../kernel/request-keys.ts';
import { IDEMPOTENCY_KEY_FORM, idempotencyKeyText } from '../../kernel/text.ts';
import type { Context } from './context.ts';
import type { Types } from './mutations.ts';

/** The sentence about a key that a mutation wants. The member stays nullable, because the header may have it. */
const WANTED =
  'Required, here or in the header Idempotency-Key: money leaves only under a key, with which the request can be repeated and looked up.';

/**
 * The member `idempotencyKey` of an input. `effect`: what the same key and input have in common. `required`: for a mutation
 * by which money leaves, whose input `withRequiredKey` validates.
 */
export function keyMember(
  t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>,
  effect: string,
  { required = false } = {},
) {
  return t.string({
    description: `A key for retries, ${IDEMPOTENCY_KEY_FORM}; the same key and input ${effect}.${required ? ` ${WANTED}` : ''}`,
  });
}

const MISSING =
  'is required: money leaves only under a key. Give input.idempotencyKey, or the header Idempotency-Key over HTTP';

/**
 * The input of a mutation by which money leaves: as `schema` has it, with a key. The header's key is in the input by then. REST
 * validates with `schema` itself, because the document leaves the key to the caller.
 */
export function withRequiredKey<Schema extends z.ZodType>(schema: Schema): Schema {
  return z.unknown().transform((input, context) => {
    const { data, error } = schema.safeParse(input);
    for (const { path, message } of error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [...path], message });
    if ((input as { idempotencyKey?: string | null }).idempotencyKey == null)
      context.addIssue({ code: 'custom', path: ['idempotencyKey'], message: MISSING });
    return data;
  }) as unknown as Schema;
}

// ── Lookups ─────────────────────────────────────────────────────────────────────────────────────

/** The argument `idempotencyKey` of a lookup, beside the resource's own name. */
export function keyArgument(
  t: Pick<PothosSchemaTypes.InputFieldBuilder<Types, 'Arg'>, 'string'>,
  made: string,
) {
  return t.string({
    description: `The key with which the ${made} was requested; after a timeout.`,
  });
}

/** Says what a lookup by a key finds, for the description of its field. */
export function byKey(made: string): string {
  return `With the idempotencyKey of its request instead, after a timeout: null means that no ${made} was made with it so far, and one whose outcome is unknown is an error. Give exactly one.`;
}

/**
 * The one of these names that the arguments of a lookup have, and its value.
 * @throws ValidationError unless there is exactly one, and for a malformed key
 */
export function onlyName<Name extends string>(
  args: { readonly [Each in Name]?: string | null | undefined },
  names: readonly Name[],
): readonly [Name, string] {
  const [name, ...others] = names.filter((each) => args[each] != null);
  if (name === undefined || others.length > 0) {
    const message = `give exactly one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
    throw new ValidationError([{ path: names[0]!, message }]);
  }
  const value = args[name]!;
  if (name === 'idempotencyKey') assertKey(value);
  return [name, value];
}

function assertKey(key: string): void {
  const { error } = idempotencyKeyText.safeParse(key);
  if (error) throw new ValidationError([{ path: 'idempotencyKey', message: error.issues[0]!.message }]);
}

/** Finds what the request with a key has made, with `find`; null if there is none. @throws as `RequestKeys.resourceOf` */
export async function findByKey<Resource>(
  context: Context,
  operation: KeyedOperation,
  key: string,
  find: (id: string) => Promise<Resource | null>,
): Promise<Resource | null> {
  const id = await context.services.requestKeys.resourceOf(callerOf(context).tenant, operation, key);
  return id === null ? null : find(id);
}
