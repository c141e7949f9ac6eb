import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';
import { RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { ATTEMPT_TIMEOUT_MS, mayBeCalled } from './model.ts';

export interface Sent {
  /** Null where no answer came. */
  responseStatus: number | null;
  /** In plain words; null where it was delivered. */
  error: string | null;
}

/** Sends one POST. Never rejects: any failure is the attempt's outcome. */
export type Send = (message: { url: string; headers: Record<string, string>; body: string }) => Promise<Sent>;

/** An answer means its status. Of the rest so much is read and thrown away, so that one without end ends. */
const ANSWER_MAX_BYTES = 4_096;
const NOT_PUBLIC = 'the URL does not lead to a public https address';
const BROKEN_OFF = 'the connection was closed before the answer was complete';

/**
 * Sends to whom a merchant names, and so trusts no URL: only https to public addresses, looked at once more when the
 * name is resolved and by the same answer that is connected to; no redirect is followed. `privateAddresses` lifts that
 * for local development.
 */
export function createSender({
  clock,
  privateAddresses,
  lookup = dnsLookup as LookupFunction,
}: {
  clock: Clock;
  privateAddresses: boolean;
  /** How names are resolved; a test has names of its own. */
  lookup?: LookupFunction;
}): Send {
  // A connection for each: one that is kept may be closed by the other side just when it is used again.
  const agents = privateAddresses
    ? { https: new HttpsAgent(), http: new HttpAgent() }
    : { https: new RequestFilteringHttpsAgent(), http: null };
  const resolve = privateAddresses ? lookup : withoutReserved(lookup);

  return ({ url, headers, body }) =>
    new Promise((done) => {
      const target = mayBeCalled(url, privateAddresses) ? new URL(url) : null;
      const secure = target?.protocol === 'https:';
      const agent = secure ? agents.https : agents.http;
      if (!target || !agent) return done({ responseStatus: null, error: NOT_PUBLIC });

      let responseStatus: number | null = null;
      const request = (secure ? httpsRequest : httpRequest)(target, {
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
      // The first to come counts; what the destroyed request says after that is about its end.
      const end = (error: string | null) => {
        cancelTimeout();
        done({ responseStatus, error });
        request.destroy();
      };
      const cancelTimeout = clock.schedule(plusMs(clock.now(), ATTEMPT_TIMEOUT_MS), () =>
        end(`no complete answer within ${ATTEMPT_TIMEOUT_MS / 1_000} seconds`),
      );
      request.on('response', (response) => {
        const status = response.statusCode!;
        responseStatus = status;
        let left = ANSWER_MAX_BYTES;
        response.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left < 0) end(judge(status));
        });
        response.on('end', () => end(judge(status)));
        response.on('error', () => end(BROKEN_OFF));
      });
      request.on('error', (error) => end(inWords(error)));
      request.on('close', () => end(BROKEN_OFF));
      request.end(body);
    });
}

function judge(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `the receiver answered ${status}, and a redirect is not followed`;
  return `the receiver answered ${status}`;
}

function inWords(error: Error & { code?: string }): string {
  const code = error.code ?? '';
  // The agent's refusals have no code of their own.
  if (code === RESERVED_CODE || error.message.includes('is not allowed. Because')) return NOT_PUBLIC;
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the host could not be resolved';
  if (code === 'ECONNRESET' || code === 'EPIPE') return BROKEN_OFF;
  if (/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL)$/.test(code))
    return 'the host could not be reached';
  if (/CERT|SELF_SIGNED|ALTNAME|SSL|TLS|EPROTO|UNABLE_TO/.test(code))
    return `no secure connection could be made (${code})`;
  if (code.startsWith('HPE_')) return 'the answer was not HTTP';
  return code ? `the request failed (${code})` : 'the request failed';
}

/**
 * Addresses that request-filtering-agent takes for public though they are not: Azure's host services, IPv4 addresses in
 * IPv6's oldest notation, and unassigned IPv6 outside of 2000::/3. (Its own option for them complains on stderr of each
 * IPv4 address that it compares.)
 */
const RESERVED_CODE = 'RESERVED_ADDRESS';
// One for each family: as an address of IPv6, every address of IPv4 lies in ::/3.
const RESERVED = { ipv4: new BlockList(), ipv6: new BlockList() };
RESERVED.ipv4.addAddress('168.63.129.16');
RESERVED.ipv6.addSubnet('::', 3, 'ipv6');
RESERVED.ipv6.addSubnet('4000::', 2, 'ipv6');
RESERVED.ipv6.addSubnet('8000::', 1, 'ipv6');

function withoutReserved(lookup: LookupFunction): LookupFunction {
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
