import { type LookupAddress, Resolver } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * The wait for each answer of a name server, and the number of attempts: together less than the time limit of
 * a delivery attempt.
 */
const ANSWER_MS = 1_500;
const TRIES = 2;

/**
 * Creates a lookup of public host names that asks the name servers itself. `dns.lookup` asks the operating
 * system in one of two threads of the whole process: two names whose servers do not answer would stop the
 * webhooks of all accounts. Names that only this machine knows, as from its hosts file, are not found.
 */
export function createPublicLookup({ servers }: { servers?: readonly string[] } = {}): LookupFunction {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);

  return (hostname, { all, family }, callback) => {
    const wanted = FAMILIES.filter((each) => !family || family === each || family === `IPv${each}`);
    void Promise.allSettled(wanted.map((each) => resolve(resolver, hostname, each))).then((results) => {
      const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const [first] = found;
      if (first) return all ? callback(null, found) : callback(null, first.address, first.family);
      const failed = results.find((result) => result.status === 'rejected');
      callback(failed?.reason ?? new Error('No address'), []);
    });
  };
}

const FAMILIES = [4, 6] as const;

function resolve(resolver: Resolver, hostname: string, family: 4 | 6): Promise<LookupAddress[]> {
  return new Promise((done, failed) => {
    const take = (error: Error | null, addresses: string[]) =>
      error ? failed(error) : done(addresses.map((address) => ({ address, family })));
    if (family === 4) resolver.resolve4(hostname, take);
    else resolver.resolve6(hostname, take);
  });
}
