// The addresses of the console: that of a page, and a level below it that of one resource.

/** The beginning of all addresses, behind a path that may precede it; empty outside the console. */
const rootOf = (pathname: string) => /^.*\/console\//.exec(pathname)?.[0] ?? '';

/** The address of a path of the console, from each of its levels. */
export const addressOf = (path: string) => rootOf(location.pathname) + path;

/** The address of one resource of a page. */
export const addressOfOne = (page: string, id: string) => addressOf(`${page}/${encodeURIComponent(id)}`);

/** The name of the page at an address, and the id of its resource; null for the page itself. */
export function placeOf(pathname: string): { name: string; id: string | null } {
  const root = rootOf(pathname);
  const [name = '', id] = root ? pathname.slice(root.length).split('/') : [];
  return { name, id: id ? decoded(id) : null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
