// The package has no types for TypeScript. These are of the parts that the tests use.
declare module 'relay-runtime' {
  interface Source {
    subscribe(sink: { next?(value: unknown): void; error?(error: unknown): void; complete?(): void }): {
      unsubscribe(): void;
    };
  }
  interface Operation {
    /** The document; null if it is persisted, and then `id` is set. */
    text: string | null;
    id: string | null;
    name: string;
  }
  interface Executing {
    execute(operation: object, variables: object, cacheConfig: object): Source;
  }
  export const Observable: { from(source: object): Source };
  export const Network: {
    create(
      fetch: (operation: Operation, variables: Record<string, unknown>) => unknown,
      subscribe?: (operation: Operation, variables: Record<string, unknown>) => Source,
    ): Executing;
  };
  export class RecordSource {}
  export class Store {
    constructor(source: RecordSource);
  }
  export class Environment {
    constructor(config: { network: Executing; store: Store; relayFieldLogger?: (event: object) => void });
    getNetwork(): Executing;
  }
  export function fetchQuery(
    environment: Environment,
    artifact: object,
    variables: object,
  ): { toPromise(): Promise<unknown> };
}
