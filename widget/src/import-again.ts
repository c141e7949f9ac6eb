/**
 * Imports a chunk, and retries once. Browsers cache a failed module for the life of the page, so the retry uses another
 * address, derived from the one that most browsers name in the error.
 */
export async function importAgain<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const address = /https?:\/\/\S+?\.js/.exec(String(error))?.[0];
    return address ? ((await import(/* @vite-ignore */ `${address}?again`)) as T) : load();
  }
}
