import type { IncomingMessage } from 'node:http';
import { createLRUCache } from '../../kernel/lru-cache.ts';
import { HttpError } from './routes.ts';

const MAX_CACHED_LENGTH = 100;
const URL_BYTES = 2_000;
const urls = createLRUCache<URL>(200_000, () => URL_BYTES);
/** Hosts that were found well-formed. */
const hosts = createLRUCache<true>(50_000);

/**
 * The URL of a request. It is cached and shared by requests of one path, so nothing may change it. @throws HttpError
 * for a malformed path or host: a URL made of the two later is well-formed
 */
export function requestUrl({ url = '/', headers: { host = '' }, rawHeaders }: IncomingMessage): URL {
  // Node reads the first header, but a proxy in front of it may have read the second.
  if (countHosts(rawHeaders) > 1) throw new HttpError(400, 'Two Host headers');
  const parsed = urls.get(url) ?? parseUrl(url);
  if (host !== '' && !hosts.get(host)) {
    if (!URL.canParse(`http://${host}`)) throw new HttpError(400, 'Malformed Host');
    hosts.set(host, true);
  }
  return parsed;
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') count += 1;
  return count;
}

/**
 * A path that a proxy may read as another one: `//x/metrics`, whose first part is a host here, a `\` for a `/`, and `..`. A
 * proxy's rule for paths would not hold. Browsers and clients send none of them.
 */
const AMBIGUOUS_PATH = /^\/\/|^[^?#]*(?:\\|\/(?:\.|%2e){1,2}(?:[/?#]|$))/i;

function parseUrl(url: string): URL {
  if (AMBIGUOUS_PATH.test(url) || !URL.canParse(url, 'http://localhost'))
    throw new HttpError(400, 'Malformed URL');
  const parsed = new URL(url, 'http://localhost');
  if (url.length <= MAX_CACHED_LENGTH) urls.set(url, parsed);
  return parsed;
}

const NO_PARAMS = {};

/**
 * The named groups of a route's path, decoded. A group that cannot be decoded stays as it is: it names nothing, and the route
 * reports that.
 */
export function decodeParams(groups: Record<string, string> | undefined): Record<string, string> {
  if (!groups) return NO_PARAMS;
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decode(value ?? '')]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The template of a route's path, such as `/checkout/{orderCode}/status`, for places that must not show the values. */
export function templateOf(path: RegExp): string {
  return path.source
    .replace(/^\^|\$$/g, '')
    .replace(/\(\?<(\w+)>(?:[^()]|\([^()]*\))*\)/g, '{$1}')
    .replace(/\(\?:[^()]*\)/g, '')
    .replaceAll('\\', '');
}
