/** The chunks that have run, by name. */
const arrived = new Map<string, object>();
let tries = 0;

/** Registers a chunk for importAgain(): a chunk that runs as a script has exports that nobody can import. */
export function arrive(name: string, chunk: object): void {
  arrived.set(name, chunk);
}

/**
 * Imports a chunk, and retries once. The loaders of Webpack, Rspack and Turbopack request a lost chunk again
 * at the next `import()`. Elsewhere a chunk is a module of the browser, which may cache a failure for the
 * life of the page: then a script with another address runs it. An `import()` of a computed address would do
 * the same, but bundlers cannot process one. The script-tag bundles have import-beside.ts instead of this
 * module.
 */
export async function importAgain<T extends object>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    return load().catch(async () => {
      // Most browsers name the address in the error. The errors of bundlers' loaders are not TypeErrors.
      const address = error instanceof TypeError && /https?:\/\/\S+?\.m?js/.exec(error.message)?.[0];
      if (address && !arrived.has(name)) await run(`${address}?again=${++tries}`);
      const chunk = arrived.get(name);
      if (!chunk) throw error;
      return chunk as T;
    });
  }
}

/** Runs a module, or fails; the result shows only that it has ended. */
function run(address: string): Promise<void> {
  return new Promise((resolve) => {
    const script = document.createElement('script');
    script.type = 'module';
    script.src = address;
    // A policy may allow scripts only by their nonce.
    script.nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
    script.onload = script.onerror = () => {
      script.remove();
      resolve();
    };
    document.head.append(script);
  });
}
