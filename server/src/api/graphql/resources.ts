import { resolveNodes } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import { PermissionError } from '../../kernel/errors.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

/**
 * Loads the resource of an event or an entry as `node` does, by its type in the log; null if there is none, or the
 * caller may not read it.
 */
export async function resolveResource(
  resource: { type: string; id: string } | null,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const typename = resource && typenameOf(resource.type);
  if (!typename || !info.schema.getType(typename)) return null;
  try {
    const [found] = await resolveNodes(builder as never, context, info, [{ typename, id: resource.id }]);
    const node = await found;
    if (node instanceof Error) throw node;
    return node;
  } catch (error) {
    if (error instanceof PermissionError) return null;
    throw error;
  }
}

/** The type of a resource: `card_payment` is a CardPayment. */
function typenameOf(type: string): string {
  return TYPENAMES[type] ?? type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The types whose names differ from those in the log. */
const TYPENAMES: Readonly<Record<string, string>> = { subscription: 'PixSubscription' };
