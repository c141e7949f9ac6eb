import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createNetworks } from '../kernel/network.ts';

/** The network address that a request comes from. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The peer's address, or, where the peer is a proxy that we trust, what it says of its own peer in `X-Forwarded-For`, and
 * so on: the rightmost address that is no trusted proxy's. Whatever stands to the left of that anyone may have
 * written. Without trusted proxies the header is not looked at.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusts = createNetworks(trustedProxies);
  if (trustedProxies.length === 0) return ({ socket }) => normalizeAddress(socket.remoteAddress ?? '');
  return ({ socket, headers }) => {
    let address = normalizeAddress(socket.remoteAddress ?? '');
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join().split(',');
    while (trusts(address)) {
      const said = normalizeAddress((forwarded.pop() ?? '').trim());
      // Nothing more, or nothing that is an address: the proxy itself is all that is known.
      if (isIP(said) === 0) break;
      address = said;
    }
    return address;
  };
}

/** Without what may be around an address: a port, brackets, the IPv6 form of an IPv4 address. */
function normalizeAddress(text: string): string {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}
