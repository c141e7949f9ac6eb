/** The chunks that have run, by name. */
const arrived = new Map<string, object>();
let tries = 0;

/** Hands over a chunk to importAgain(), for where it is run as a script, whose exports nobody can import. */
export function arrive(name: string, chunk: object): void {
  arrived.set(name, chunk);
}

/**
 * Imports a chunk, and retries once. The loaders of Webpack, Rspack and Turbopack request a lost chunk at the next
 * `import()`. Elsewhere a chunk is a module of the browser, which may keep a failure for the life of the page: a script with
 * another address runs it there. An `import()` of a computed address would do the same, but no bundler knows what to make of one.
 * The script-tag bundles have import-beside.ts in place of this module.
 */
export async function importAgain<T extends object>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    return load().catch(async () => {
      // Most browsers name the address. The errors of bundlers' loaders are no TypeError.
      const address = error instanceof TypeError && /https?:\/\/\S+?\.m?js/.exec(error.message)?.[0];
      if (address && !arrived.has(name)) await run(`${address}?again=${++tries}`);
      const chunk = arrived.get(name);
      if (!chunk) throw error;
      return chunk as T;
    });
  }
}

/** Runs a module, or fails to; the result says no more than that it has ended. */
function run(address: string): Promise<void> {
  return new Promise((resolve) => {
    const script = document.createElement('script');
    script.type = 'module';
    script.src = address;
    // A policy may take scripts by their nonce alone.
    script.nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
    script.onload = script.onerror = () => {
      script.remove();
      resolve();
    };
    document.head.append(script);
  });
}
