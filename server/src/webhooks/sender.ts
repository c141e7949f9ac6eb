import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';
import { RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { KEPT_BYTES, keptBody, keptHeaders, type WebhookExchange } from './exchange.ts';
import { ATTEMPT_TIMEOUT_MS, mayBeCalled } from './model.ts';
import { createPublicLookup } from './resolver.ts';

export interface SendResult {
  /** The HTTP status of the answer; null without an answer. */
  responseStatus: number | null;
  /** The reason of the failure, in plain words; null if the message was delivered. */
  error: string | null;
  /** Null if no request was made. */
  exchange: WebhookExchange | null;
}

/** Sends one POST. Never rejects: any failure is the attempt's outcome. */
export type Send = (message: {
  url: string;
  headers: Record<string, string>;
  body: string;
}) => Promise<SendResult>;

const NOT_PUBLIC = 'the URL does not lead to a public https address';
const CONNECTION_CLOSED = 'the connection was closed before the answer was complete';

/**
 * Creates the sender, which trusts no URL, because merchants choose them: only https to public addresses,
 * which are checked again on the resolved addresses of the connection; no redirect is followed.
 * `privateAddresses` lifts that for local development.
 */
export function createSender({
  clock,
  privateAddresses,
  lookup = privateAddresses ? (dnsLookup as LookupFunction) : createPublicLookup(),
}: {
  clock: Clock;
  privateAddresses: boolean;
  /** Resolves host names. Tests replace it. */
  lookup?: LookupFunction;
}): Send {
  // A new connection for each request: the other side may close a kept connection just when it is used again.
  const agents = privateAddresses
    ? { https: new HttpsAgent(), http: new HttpAgent() }
    : { https: new RequestFilteringHttpsAgent(), http: null };
  const resolve = privateAddresses ? lookup : rejectReserved(lookup);

  return ({ url, headers, body }) =>
    new Promise((done) => {
      const target = mayBeCalled(url, privateAddresses) ? new URL(url) : null;
      const isSecure = target?.protocol === 'https:';
      const agent = isSecure ? agents.https : agents.http;
      if (!target || !agent) return done({ responseStatus: null, error: NOT_PUBLIC, exchange: null });

      let answer: IncomingMessage | null = null;
      const chunks: Buffer[] = [];
      const request = (isSecure ? httpsRequest : httpRequest)(target, {
        method: 'POST',
        agent,
        lookup: resolve,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'PSA-Webhooks/1',
          ...headers,
        },
      });
      const sentHeaders = Object.entries(request.getHeaders()).flatMap(([name, value]) => [
        name,
        String(value),
      ]);
      // The first outcome counts: later events report the end of the destroyed request.
      const end = (error: string | null) => {
        cancelTimeout();
        const { statusCode = null, rawHeaders, headers: answered } = answer ?? {};
        const kept = keptBody(Buffer.concat(chunks), {
          type: answered?.['content-type'],
          encoding: answered?.['content-encoding'],
        });
        const responseHeaders = rawHeaders ? keptHeaders(rawHeaders) : null;
        const exchange = { requestHeaders: keptHeaders(sentHeaders), responseHeaders, ...kept };
        done({ responseStatus: statusCode, error, exchange });
        request.destroy();
      };
      const cancelTimeout = clock.schedule(plusMs(clock.now(), ATTEMPT_TIMEOUT_MS), () =>
        end(`no complete answer within ${ATTEMPT_TIMEOUT_MS / 1_000} seconds`),
      );
      request.on('response', (response) => {
        const status = response.statusCode!;
        answer = response;
        let remainingBytes = KEPT_BYTES;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          remainingBytes -= chunk.length;
          // The status alone counts, and an endless body must end.
          if (remainingBytes < 0) end(errorOfStatus(status));
        });
        response.on('end', () => end(errorOfStatus(status)));
        response.on('error', () => end(CONNECTION_CLOSED));
      });
      request.on('error', (error) => end(describeError(error)));
      request.on('close', () => end(CONNECTION_CLOSED));
      request.end(body);
    });
}

function errorOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `the receiver answered ${status}, and a redirect is not followed`;
  return `the receiver answered ${status}`;
}

function describeError(error: Error & { code?: string }): string {
  const code = error.code ?? '';
  // The agent's refusals have no code of their own.
  if (code === RESERVED_CODE || error.message.includes('is not allowed. Because')) return NOT_PUBLIC;
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (UNRESOLVED.has(code)) return 'the name of the host could not be resolved';
  if (code === 'ECONNRESET' || code === 'EPIPE') return CONNECTION_CLOSED;
  if (/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL)$/.test(code))
    return 'the host could not be reached';
  if (/CERT|SELF_SIGNED|ALTNAME|SSL|TLS|EPROTO|UNABLE_TO/.test(code))
    return `no secure connection could be made (${code})`;
  if (code === 'HPE_HEADER_OVERFLOW') return 'the headers of the answer are too long';
  if (code.startsWith('HPE_')) return 'the answer was not HTTP';
  return code ? `the request failed (${code})` : 'the request failed';
}

/** The codes of names without an address, from the operating system and from the name servers. */
const UNRESOLVED = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENODATA',
  'ETIMEOUT',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'EBADRESP',
  'EBADNAME',
]);

const RESERVED_CODE = 'RESERVED_ADDRESS';
/**
 * Addresses that request-filtering-agent wrongly considers public: Azure's host services, IPv4 addresses in
 * IPv6's oldest notation, and unassigned IPv6 outside of 2000::/3. (Its own option for them warns on stderr
 * for each IPv4 address that it compares.) Each family has its own list: as IPv6 addresses, all IPv4
 * addresses lie in ::/3.
 */
const RESERVED = { ipv4: new BlockList(), ipv6: new BlockList() };
RESERVED.ipv4.addAddress('168.63.129.16');
RESERVED.ipv6.addSubnet('::', 3, 'ipv6');
RESERVED.ipv6.addSubnet('4000::', 2, 'ipv6');
RESERVED.ipv6.addSubnet('8000::', 1, 'ipv6');

function rejectReserved(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const addresses: LookupAddress[] = Array.isArray(address)
        ? address
        : [{ address: address as string, family: family ?? 4 }];
      const refused =
        !error &&
        addresses.some((each) => {
          const family = isIPv6(each.address) ? 'ipv6' : 'ipv4';
          return RESERVED[family].check(each.address, family);
        });
      callback(
        refused ? Object.assign(new Error('a reserved address'), { code: RESERVED_CODE }) : error,
        address,
        family,
      );
    });
}
