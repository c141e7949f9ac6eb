import { getOperationAST, getVariableValues } from 'graphql';
import { createLRUCache } from '../../kernel/lru-cache.ts';
import { type ExecuteUpdates, executeUpdates, textOf } from '../shared-execution.ts';
import { type CompiledOperation, compileOperation, createCompiledCache } from './compile.ts';

/** Executions of an operation before it is compiled. */
const COMPILE_AFTER = 2;
/** The limit on the counts of all operations together. */
const COUNTS_BYTES = 1_000_000;

/** Executes the updates of subscriptions: an operation that was executed COMPILE_AFTER times runs compiled. */
export function createCompiledUpdates(): ExecuteUpdates {
  const compiled = createCompiledCache();
  /** The executions of each operation, by its name and the document's text. */
  const counts = createLRUCache<number>(COUNTS_BYTES);

  return (operation) => {
    const { schema, document, variableValues, operationName } = operation;
    const ast = getOperationAST(document, operationName);
    const key = `${operationName ?? ''} ${textOf(document)}`;
    const execute = executeUpdates(operation);
    let variables: Record<string, unknown> | undefined;

    /** Looks the operation up for each update: a subscription that held it would retain it after the cache drops it. */
    function findCompiled(): CompiledOperation | false {
      if (!ast) return false;
      const known = compiled.get(key);
      if (known !== undefined) return known;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= COMPILE_AFTER) return false;
      const run = compileOperation(schema, document, ast) ?? false;
      compiled.set(key, run);
      return run;
    }

    return (item, context) => {
      const run = findCompiled();
      if (!run) return execute(item, context);
      variables ??= getVariableValues(schema, ast?.variableDefinitions ?? [], variableValues ?? {}).coerced;
      return run(context, variables ?? {}, item);
    };
  };
}
