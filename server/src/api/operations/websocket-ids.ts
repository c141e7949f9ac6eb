import type { Context, OperationResult, SubscribePayload } from 'graphql-ws';

/** The members of a connection that are read here. */
type Connection = Pick<Context, 'subscriptions'>;
type Operation = [connection: Connection, id: string, payload: SubscribePayload];

/** The ids of a connection above which those without a running operation are removed. */
const FORGET_FROM = 100;

/**
 * The operations that the ids of each connection stand for. A client may use an id again as soon as it has completed the
 * operation with it. That operation may not have ended yet, and the library knows only ids: it would send the result of the
 * completed operation as that of the new one, and end the new one.
 */
export interface OperationIds {
  /** Notes that an id stands for an operation from now on. */
  begin(...operation: Operation): void;
  /** Returns the value of `then`; sends nothing for this operation if another one has its id by now. */
  unlessReplaced<Value>(operation: Operation, then: () => Value): Value | Promise<never>;
  /** Forgets an operation that ends; sends nothing for it if another one has its id by now. */
  end(...operation: Operation): undefined | Promise<never>;
  /** A hook of the library, for an operation that was executed or opened. */
  onOperation(
    ...operation: [...Operation, args: unknown, result: OperationResult]
  ): undefined | Promise<never>;
}

export function createOperationIds(): OperationIds {
  const known = new WeakMap<Connection, Map<string, SubscribePayload>>();
  const ids: OperationIds = {
    begin(connection, id, payload) {
      const operations = known.get(connection) ?? new Map<string, SubscribePayload>();
      known.set(connection, operations);
      if (operations.size >= FORGET_FROM)
        for (const each of operations.keys())
          if (!(each in connection.subscriptions)) operations.delete(each);
      operations.set(id, payload);
    },
    unlessReplaced([connection, id, payload], then) {
      const current = known.get(connection)?.get(id) ?? payload;
      // The promise never resolves, so the library sends nothing. Nothing refers to it, so it is collected.
      return current === payload ? then() : new Promise(() => undefined);
    },
    end: (...operation) =>
      ids.unlessReplaced(operation, () => {
        const [connection, id] = operation;
        known.get(connection)?.delete(id);
        return undefined;
      }),
    onOperation(connection, id, payload, _args, result) {
      const replaced = ids.unlessReplaced([connection, id, payload], () => undefined);
      if (replaced && 'return' in result) void result.return(undefined);
      return replaced;
    },
  };
  return ids;
}
