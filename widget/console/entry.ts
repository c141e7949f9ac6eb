// The console's way in: its token, which is renewed, and the key that is presented once and kept nowhere.
import { type PostResult, postJson, type Refusal } from '../demo/shared/post-json.ts';
import { addressOf } from './place.ts';

/** The server's answer to a page that enters. */
export interface Entry {
  /** The dashboard token; null if the key may read nothing that the console shows. */
  token: string | null;
  /** The server's time; the clock of this machine may differ. */
  now: string;
  environment: 'live' | 'sandbox';
  /** The id of the account. */
  account: string;
  scopes: readonly string[];
  /** The key of the session; null where the console is open. */
  key: { name: string | null; hint: string | null } | null;
  /** Whether refunds, answers to disputes, cancellations and changes of products, keys, tokens and webhooks may be requested. */
  mayWrite: boolean;
  /** The names of the changes that the service takes: refund, cancel, defence, accept, cancelSubscription, content. */
  actions: readonly string[];
  /** Whether transfers to subaccounts and payouts of them may be requested. */
  mayPaySubaccounts: boolean;
  /** Whether another service is behind this server, which may not have the list of a page. */
  isFacade: boolean;
  /** Whether GraphiQL and the document of the REST interface are served. */
  documents: { graphiql: boolean; rest: boolean };
  /** Whether another service behind the server refuses the key with which the server asks it. */
  keyRefused: boolean;
}

export const requestEntry = () => postJson<Entry>(addressOf('./token'));
export const signIn = (key: string): Promise<PostResult<Entry>> =>
  postJson<Entry>(addressOf('./sign-in'), { key });
export const signOut = () => postJson(addressOf('./sign-out'));
export const endpointOf = () => new URL(addressOf('../graphql'), location.href).href;

/** Whether a request was refused because there is no session. */
export const isSignedOut = ({ code, status }: Refusal) => code === 'UNAUTHENTICATED' || status === 401;
