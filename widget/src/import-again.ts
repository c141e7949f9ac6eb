/**
 * Imports a chunk, and once more when the first try failed. Browsers remember a failed module for as long as the
 * page lives, so the second try asks under another address, which most of them name in the error.
 */
export async function importAgain<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const address = /https?:\/\/\S+?\.js/.exec(String(error))?.[0];
    return address ? ((await import(/* @vite-ignore */ `${address}?again`)) as T) : load();
  }
}
