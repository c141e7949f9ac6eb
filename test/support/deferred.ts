export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

/** A promise that a test resolves itself, when what it waits for has happened. Node 20 has none. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((resolveIt) => {
    resolve = resolveIt;
  });
  return { promise, resolve };
}
