import { readPage } from '../kernel/lenient-json.ts';
import type { Environment } from '../kernel/tenant.ts';
import type { MirroredResource, UpstreamFamily } from '../kernel/upstream-family.ts';

// The endpoints that a facade calls, with their readers, and the features that need them: each slice has its own.

/** The result of reading an answer. */
export interface Reading {
  /** Whether there was a resource to read. */
  isEmpty: boolean;
  unread: string[];
  /** The id of a resource that was read, for a call of its own endpoint. */
  id?: string | undefined;
}

export interface ReadEndpoint {
  name: string;
  /** Builds the path. `id`: that of a known resource, or one that no resource has. */
  pathOf: (id: string) => `/v1/${string}`;
  read: (body: unknown, environment: Environment, id: string) => Reading;
  /** The endpoint that shows whether the service has this family, and gives an id. */
  family?: string;
  /** The kind of the resources: the mirror may know one. */
  resource?: MirroredResource;
  /** The id of a resource that nobody has. */
  nobody?: string;
}

/** The endpoints of one slice that `psa upstream check` looks for, and the features that need them. */
export interface Checks {
  reads: readonly ReadEndpoint[];
  /**
   * The endpoints that change something, which the check does not call. `family`: the configured word that
   * enables them.
   */
  writes?: readonly { name: string; family?: UpstreamFamily }[];
  /** The features, with the endpoints that each needs, by default all that are read. `family`: the word with which its requests are sent. */
  features: readonly { feature: string; needs?: readonly string[]; family?: UpstreamFamily }[];
}

/** The digits of an id that nobody has. */
export const ZEROS = '0'.repeat(32);
export const ONE_ITEM = 'limit=1&offset=0';

type Reader = (body: unknown) => object | null;

/** The members of a claim that could not be read; `status` also if its word is unknown. */
export function missingOf(claim: object, members: readonly string[]): string[] {
  const read = claim as Readonly<Record<string, unknown>>;
  return members.filter((name) => read[name] == null || read[name] === 'unknown');
}

/** Reads one resource; `members` are those that the facade needs. */
export function one(reader: Reader, idName: string, members: readonly string[]) {
  return (body: unknown): Reading => {
    const claim = reader(body);
    return { isEmpty: false, unread: claim ? missingOf(claim, members) : [idName] };
  };
}

/** Reads a page of a list. */
export function list(
  reader: (
    body: unknown,
  ) => { items: readonly (object | null)[]; total: number | null; length?: number } | null,
  listName: string,
  idName: string,
  members: readonly string[],
) {
  return (body: unknown): Reading => {
    const page = reader(body);
    if (!page) return { isEmpty: false, unread: [listName] };
    const [first] = page.items;
    if (first == null) {
      const isEmpty = page.items.length === 0 && !page.length;
      return { isEmpty, unread: isEmpty ? [] : [`${listName}.${idName}`] };
    }
    const id = (first as Readonly<Record<string, unknown>>)[idName];
    return {
      isEmpty: false,
      unread: missingOf(first, members).map((name) => `${listName}.${name}`),
      id: typeof id === 'string' ? id : undefined,
    };
  };
}

/**
 * The list and the lookup of a family. Without `readList` the facade reads nothing from the list, which shows whether the service has
 * the family, and gives an id.
 */
export function checkedFamily({
  path,
  listName = path,
  idInPath = 'id',
  idName,
  nobody,
  resource,
  members,
  read,
  readList,
}: {
  /** The last word of the list's path. */
  path: string;
  /** The name of the list in its answer. */
  listName?: string;
  idInPath?: string;
  idName: string;
  nobody: string;
  resource?: MirroredResource;
  members: readonly string[];
  read: Reader;
  readList?: Parameters<typeof list>[0];
}): ReadEndpoint[] {
  const family = `GET /v1/${path}`;
  return [
    {
      name: family,
      pathOf: () => `/v1/${path}?${readList ? ONE_ITEM : 'limit=1'}`,
      read: readList
        ? list(readList, listName, idName, members)
        : (body) => {
            const claim = read(readPage(body, listName)?.items[0]);
            const id = (claim as Readonly<Record<string, unknown>> | null)?.[idName];
            return { isEmpty: false, unread: [], id: typeof id === 'string' ? id : undefined };
          },
    },
    {
      ...{ family, nobody, ...(resource && { resource }) },
      name: `${family}/{${idInPath}}`,
      pathOf: (id) => `/v1/${path}/${encodeURIComponent(id)}`,
      read: one(read, idName, members),
    },
  ];
}
