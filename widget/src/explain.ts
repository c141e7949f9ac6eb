// The chunk that explains a mistake in the page around an element. It is loaded if there seems to be one, and
// imports nothing that the page has loaded. It writes to the console, which the payer does not see.
import type { CheckoutError } from './checkout-state.ts';

/** The members of the element that the page may have set wrongly. */
interface Embedded extends Element {
  endpoint?: string | undefined;
  token?: string | undefined;
  methods?: string;
  amountCents?: number | undefined;
  /** The function that returns a later token, if the page has one. */
  renewToken?: unknown;
}

/**
 * A problem: a secret key in the page, something that is still missing after a while, methods that the token
 * does not take (with those that it takes), or an error of the element.
 */
export type Problem = 'secret' | 'missing' | { code: 'methods'; message: string } | CheckoutError;

/** The time in which a browser reports a request that a page's policy has refused. */
const REPORT_MS = 1_000;

interface Mistake {
  cause: string;
  fix: string;
}

const explained = new Set<string>();
const withSecret = new WeakSet<Element>();

/** Explains the mistake behind a problem once for each page; does nothing if the page has made none. */
export async function explain(element: Embedded, problem: Problem): Promise<void> {
  const mistake = await findMistake(element, problem);
  if (!mistake) return;
  const { cause, fix } = mistake;
  const name = element.localName;
  const text = `<${name}>: ${cause}\n${fix}\nMore: https://github.com/psa/psa/blob/main/widget/docs/${name}.md#mistakes`;
  if (explained.has(text)) return;
  explained.add(text);
  console.error(text, element);
}

function findMistake(
  element: Embedded,
  problem: Problem,
): Mistake | undefined | Promise<Mistake | undefined> {
  if (problem === 'secret') {
    withSecret.add(element);
    return {
      cause:
        'its token is a secret API key (ps_live_… or ps_test_…). It was sent nowhere, but everybody who loads this page can read it.',
      fix: 'Revoke the key now. Create a token with it on your server, and give the page that token alone.',
    };
  }
  const lacks = withSecret.has(element) ? undefined : missing(element, problem);
  if (problem === 'missing') return element.isConnected ? lacks : undefined;
  const endpoint = element.endpoint ?? '';
  const { code, message } = problem;
  if (code === 'methods')
    return {
      cause: `its methods are “${element.methods}”, and its token takes “${message}”, which it offers in their place.`,
      fix: `Set the attribute methods to “${message}”, or create the token with other methods.`,
    };
  if (code === 'not_configured') return lacks;
  if (code === 'unauthorized' && message.includes('revoked'))
    return {
      cause: `${endpoint} does not know its token, or the token was revoked.`,
      fix: 'Create a token with a key of that server, and set the attribute token to it.',
    };
  if (code === 'invalid_input' && /amount|lie from|pays exactly/.test(message))
    return wrongAmount(element, message);
  if (code === 'unauthorized' && message.includes('may not be used on this page'))
    return {
      cause: `the allowedOrigins of its token do not have the origin of this page, ${location.origin}.`,
      fix: 'Create the token with this origin, or without allowedOrigins.',
    };
  if (code === 'protocol' && /^HTTP (2..|404|405)$/.test(message))
    return {
      cause: `${endpoint} is not a GraphQL endpoint: it answered with ${message} and no GraphQL response.`,
      fix: 'Set the attribute endpoint to the address of /graphql of your server.',
    };
  return code === 'network' ? findBlocked(endpoint) : undefined;
}

/** Explains an amount that the token does not take, in the words of the server. */
function wrongAmount({ amountCents }: Embedded, message: string): Mistake {
  const range = message.replace(/^.*amountCents: /, '');
  return amountCents === undefined
    ? {
        cause: `it has no amount-cents, and its token lets the page choose the amount (${range}).`,
        fix: 'Set the attribute amount-cents to the amount in cents, before the click.',
      }
    : {
        cause: `its token does not take its amount-cents, ${amountCents} (${range}).`,
        fix: 'Set the attribute amount-cents to one that the token takes, or create the token with another amount.',
      };
}

/** Explains which settings the element needs but does not have. */
function missing({ endpoint, token, renewToken }: Embedded, problem: Problem): Mistake | undefined {
  if (!endpoint)
    return {
      cause: 'it has no endpoint.',
      fix: 'Set the attribute endpoint to the address of /graphql of your server.',
    };
  if (!URL.canParse(endpoint, document.baseURI))
    return {
      cause: `its endpoint “${endpoint}” is not an address.`,
      fix: 'Set it to one, such as /graphql.',
    };
  // At a click it is too late for the first token.
  if (!(token || (renewToken && problem === 'missing')))
    return {
      cause: 'it has no token.',
      fix: 'Create a token on your server, and set the attribute token to it.',
    };
  return;
}

/**
 * Distinguishes an unreachable server from a server or a policy that refuses this page. The first request
 * carries no token, and its answer cannot be read; if only the second one fails, whose answer could be read,
 * the browser has refused it.
 */
async function findBlocked(endpoint: string): Promise<Mistake | undefined> {
  const url = new URL(endpoint || '/', document.baseURI);
  if (location.protocol === 'https:' && url.protocol === 'http:')
    return {
      cause: `this page is https and its endpoint ${url} is http, which browsers block.`,
      fix: 'Serve the endpoint by https.',
    };
  const credentials = 'omit';
  const refusal = policyRefusal(url.href);
  try {
    await fetch(url, { mode: 'no-cors', credentials });
  } catch {
    if (await refusal)
      return {
        cause: `the Content-Security-Policy of this page does not allow requests to ${url}.`,
        fix: `Add ${connectSources(url)} to its connect-src.`,
      };
    if (!navigator.onLine) return;
    return {
      cause: `${url} cannot be reached.`,
      fix: 'Check that the server runs, and that the attribute endpoint has its host and port.',
    };
  }
  if (url.origin === location.origin) return;
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: '{"query":"{__typename}"}', credentials }).then(
    () => undefined,
    () => ({
      cause: `${url} does not let pages of ${location.origin} read its answers (CORS).`,
      fix: 'Set endpoint to the address of /graphql. A proxy in front of it must pass on OPTIONS requests and the access-control-* headers.',
    }),
  );
}

/**
 * Whether the page's policy refuses the next request to an address. Older WebKit reports only the origin of a
 * foreign address.
 */
function policyRefusal(href: string): Promise<boolean> {
  const reported = [href, new URL(href).origin];
  return new Promise((resolve) => {
    const done = (refused: boolean) => {
      clearTimeout(timer);
      removeEventListener('securitypolicyviolation', listener);
      resolve(refused);
    };
    const listener = ({ blockedURI }: SecurityPolicyViolationEvent) =>
      reported.includes(blockedURI) && done(true);
    const timer = setTimeout(done, REPORT_MS, false);
    addEventListener('securitypolicyviolation', listener);
  });
}

function connectSources({ origin }: URL): string {
  return `${origin} and ${origin.replace(/^http/, 'ws')}`;
}
