// Queries of the console with its dashboard token, which is renewed once it has expired.
import { endpointOf } from './entry.ts';

const TIMEOUT_MS = 30_000;

/** The means by which a page of the console reads. */
export interface Api {
  endpoint: string;
  /** The newest token: a page is not drawn again for each. */
  readonly token: string;
  /** Requests the next token. Rejects where the session has ended. */
  renewToken: () => Promise<string>;
  /** Whether the console may request refunds and answer disputes, and whether it gives the key of the session again with that. */
  mayWrite: boolean;
  asksForKey: boolean;
  /** Is aborted when the user leaves the page, or the session ends. */
  leaving: AbortSignal;
  /** Estimates the server's time. */
  now: () => Date;
}

/** The root fields of an answer: one that was refused is null. */
export type Parts<Data> = { [Name in keyof Data]: Data[Name] | null };

/** Runs a query. Rejects where nothing was answered. */
export async function query<Data>(api: Api, document: string, variables: object): Promise<Parts<Data>> {
  const { data, code } = await send(api.token, document, variables);
  if (code !== 'UNAUTHENTICATED') return given<Data>(data);
  return given<Data>((await send(await api.renewToken(), document, variables)).data);
}

function given<Data>(data: object | null): Parts<Data> {
  if (!data) throw new Error('The query was refused');
  return data as Parts<Data>;
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
  const { data = null, errors = [] } = (await response.json()) as {
    data?: object | null;
    errors?: { extensions?: { code?: string } }[];
  };
  return { data, code: errors[0]?.extensions?.code };
}
