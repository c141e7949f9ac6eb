import { BREAK, type DocumentNode, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../../kernel/caller.ts';
import { NO_KEY } from '../../kernel/caller.ts';
import { PermissionError, UnauthenticatedError } from '../../kernel/errors.ts';
import type { Context } from './context.ts';
import { toGraphQLError } from './errors.ts';

/**
 * Allows introspection to API keys, and in a demo to GraphiQL, which sends it before a key is typed. A browser's token is
 * refused: any visitor may have one, and needs no schema to start or follow a payment.
 */
export function introspectionGuard({
  open,
  onFault,
}: {
  open: boolean;
  onFault: (fault: unknown) => void;
}): Plugin<Context> {
  return {
    async onExecute({ args, setResultAndStopExecution }) {
      if (!asksForSchema(args.document)) return;
      try {
        await admit(args.contextValue, open);
      } catch (error) {
        setResultAndStopExecution({ errors: [toGraphQLError(error, onFault)] });
      }
    },
  };
}

/** @throws PermissionError */
export function assertSeesSchema({ credential }: Caller): void {
  if (credential.kind !== 'api_key') throw new PermissionError('The schema is shown to API keys');
}

async function admit(context: Context, open: boolean): Promise<void> {
  const { caller } = context;
  if (!caller) {
    if (!open) throw new UnauthenticatedError(NO_KEY);
    return;
  }
  assertSeesSchema(caller);
  await context.takeRootField();
}

const introspects = new WeakMap<DocumentNode, boolean>();

/** Whether any operation of the document selects the schema. */
export function asksForSchema(document: DocumentNode): boolean {
  const known = introspects.get(document);
  if (known !== undefined) return known;
  let found = false;
  visit(document, {
    Field({ name }) {
      if (name.value !== '__schema' && name.value !== '__type') return undefined;
      found = true;
      return BREAK;
    },
  });
  introspects.set(document, found);
  return found;
}
