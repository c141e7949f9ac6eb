// import-again.ts for the script-tag bundles, whose chunks lie beside the first file, under their own names.

/** Chunks are imported, so none has to be registered. */
export const arrive = /* @__NO_SIDE_EFFECTS__ */ () => undefined;

/**
 * Imports a chunk, and retries once. Browsers may cache a failed module for the life of the page, so the retry uses another
 * address.
 */
export const importAgain = <T>(name: string, load: () => Promise<T>): Promise<T> =>
  load().catch(() => import(/* @vite-ignore */ `./psa-${name}.js?again`));
