import { BlockList, isIP, isIPv6 } from 'node:net';

/** The network that an address is counted under: an IPv6 visitor can choose any address of a whole /64. */
export function networkOf(address: string): string {
  const groups = groupsOf(address);
  return groups ? `${groups.slice(0, 4).join(':')}::/64` : address;
}

/** The IPv6 /48 that an address is in: one host may have all of its networks. Null for an IPv4 address. */
export function blockOf(address: string): string | null {
  const groups = groupsOf(address);
  return groups && `${groups.slice(0, 3).join(':')}::/48`;
}

/** The eight groups of an IPv6 address. Null for an IPv4 address, also if it is written as IPv6. */
function groupsOf(address: string): string[] | null {
  if (!isIPv6(address) || address.includes('.')) return null;
  const [head = '', tail] = address.replace(/%.*/, '').split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const left = groups(head);
  const right = groups(tail);
  return [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
}

/** Whether a text is an address, or a network such as `10.0.0.0/8`. A network of all addresses is refused. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** Creates a check whether an address lies in one of the networks, each in the form of `isNetwork`. */
export function createNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
