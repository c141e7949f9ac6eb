// Queries of the console with its dashboard token, which is renewed once it has expired.
import { type Entry, endpointOf } from './entry.ts';

const TIMEOUT_MS = 30_000;

/** The means by which a page of the console reads. */
export interface Api {
  endpoint: string;
  /** The newest token: a page is not drawn again for each. */
  readonly token: string;
  /** Requests the next token. Rejects where the session has ended. */
  renewToken: () => Promise<string>;
  /** Whether the console may request changes, and whether it gives the key of the session again with those that ask for it. */
  mayWrite: boolean;
  asksForKey: boolean;
  /** The changes that it may request and the service takes: refund, cancel, defence, accept, cancelSubscription, content. */
  actions: readonly string[];
  /** Whether transfers to subaccounts and payouts of them may be requested. */
  mayPaySubaccounts: boolean;
  documents: Entry['documents'];
  /** Is aborted when the user leaves the page, or the session ends. */
  leaving: AbortSignal;
  /** Estimates the server's time. */
  now: () => Date;
  /** Takes from each answer whether another service behind the server refuses its key. */
  noteKey?: (isRefused: boolean) => void;
}

/** The root fields of an answer: one that was refused is null. */
export type Parts<Data> = { [Name in keyof Data]: Data[Name] | null };

/** An answer to a query. */
export interface Answer<Data> {
  data: Parts<Data>;
  /** The codes of the root fields that were refused. */
  codes: Readonly<Record<string, string>>;
  /** The time of the oldest root field that another service has not confirmed since it was read; null if there is none. */
  staleSince: Date | null;
}

/** Runs a query. Rejects where nothing was answered. */
export async function query<Data>(api: Api, document: string, variables: object): Promise<Parts<Data>> {
  return (await ask<Data>(api, document, variables)).data;
}

/** Runs a query, and says what of it was refused and what is stale. Rejects where nothing was answered. */
export async function ask<Data>(api: Api, document: string, variables: object): Promise<Answer<Data>> {
  let answer = await send(api.token, document, variables);
  const isExpired = answer.errors[0]?.extensions?.code === 'UNAUTHENTICATED';
  if (isExpired) answer = await send(await api.renewToken(), document, variables);
  const { data, errors, extensions } = answer;
  // A refusal of the whole query says nothing of the service behind the server.
  if (extensions?.upstream) api.noteKey?.(extensions.upstream.keyRefused ?? false);
  if (!data) throw new Error('The query was refused');
  const ages = Object.values(extensions?.upstream?.fields ?? {}).filter(({ stale }) => stale);
  return {
    data: data as Parts<Data>,
    codes: Object.fromEntries(errors.map(({ path, extensions }) => [`${path?.[0]}`, extensions?.code ?? ''])),
    staleSince:
      ages.length === 0
        ? null
        : new Date(api.now().getTime() - Math.max(...ages.map(({ ageSeconds }) => ageSeconds ?? 0)) * 1_000),
  };
}

interface Sent {
  data?: object | null;
  errors?: { path?: (string | number)[]; extensions?: { code?: string } }[];
  /** In front of another service: the age of each root field. */
  extensions?: {
    upstream?: {
      keyRefused?: boolean;
      fields: Record<string, { ageSeconds: number | null; stale: boolean }>;
    };
  };
}

async function send(token: string, document: string, variables: object) {
  const response = await fetch(endpointOf(), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ query: document, variables }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { data = null, errors = [], extensions } = (await response.json()) as Sent;
  return { data, errors, extensions };
}
