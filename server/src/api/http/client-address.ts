import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createNetworks } from '../../kernel/network.ts';

/** The network address that a request comes from. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Finds the rightmost address that is not a trusted proxy's: the peer's or, behind trusted proxies, the one that the first
 * of them names in `X-Forwarded-For`. A client may have written the addresses to the left of it. Without trusted proxies
 * the header is ignored.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusts = createNetworks(trustedProxies);
  if (trustedProxies.length === 0) return ({ socket }) => normalizeAddress(socket.remoteAddress ?? '');
  return ({ socket, headers }) => {
    let address = normalizeAddress(socket.remoteAddress ?? '');
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join().split(',');
    while (trusts(address)) {
      const next = normalizeAddress((forwarded.pop() ?? '').trim());
      // Without a further address only the proxy's own is known.
      if (isIP(next) === 0) break;
      address = next;
    }
    return address;
  };
}

/** Removes a port, brackets and the IPv6 form of an IPv4 address. */
function normalizeAddress(text: string): string {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}
