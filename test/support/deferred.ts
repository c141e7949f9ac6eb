export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

/** Creates a promise that a test resolves itself. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((resolveIt) => {
    resolve = resolveIt;
  });
  return { promise, resolve };
}
