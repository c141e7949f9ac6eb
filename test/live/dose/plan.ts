import type { Random } from '../../faults/random.ts';
import { CLIENTS, CLIENTS_BY_KEY } from '../clients.ts';
import type { FollowerSpec } from './followers.ts';
import type { Cut } from './relay.ts';
import type { TopicName } from './topics.ts';

export interface Size {
  /** Followers of accounts in which payments are created all the time. */
  active: number;
  /** Followers of accounts whose only events are the last ones. */
  idle: number;
  /** Connections that are cut. */
  cuts: number;
  /** The number of rolling restarts of all instances. */
  restarts: number;
  /** The number of instances that are killed by `kill -9`. */
  kills: number;
  /** The number of times that some followers read nothing for a while. */
  slowReads: number;
}

/** The part that an account plays. */
export type Role = 'active' | 'idle' | 'slow';

const FOLLOWERS_OF_ACTIVE = 250;
const MOST_ACTIVE = 8;
const FOLLOWERS_OF_IDLE = 500;
const SHARERS_OF_TOKEN = 20;
/**
 * One in this number of active followers has a token of the shortest life. The number and that of the clients have no
 * common divisor, so from 90 followers on each client with tokens has such a follower.
 */
const SHORT_TOKENS = 9;
const SHORTEST_TOKEN_SECONDS = 60;
const TOKEN_SECONDS = 86_400;
const TOPICS: readonly TopicName[] = ['account', 'cardPayments', 'payments'];
/** `follow` has a topic for each kind, and none for all kinds. */
const TOPICS_BY_KEY: readonly TopicName[] = ['cardPayments', 'payments'];

/** The roles of the accounts of a dose: at least two are active, so that an update of one can be foreign to the other. */
export function planAccounts({ active, idle }: Size): Role[] {
  const actives = Math.min(MOST_ACTIVE, Math.max(2, Math.ceil(active / FOLLOWERS_OF_ACTIVE)));
  const idles = Math.ceil(idle / FOLLOWERS_OF_IDLE);
  return [...Array(actives).fill('active'), ...Array(idles).fill('idle'), 'slow'];
}

/** Distributes the followers over clients, accounts and topics. The slow account has one follower for each client. */
export function planFollowers(
  { active, idle }: Size,
  accounts: readonly { role: Role; key: string; after: string }[],
): FollowerSpec[] {
  const clients = Object.keys(CLIENTS);
  if (clients.length % 3 === 0)
    throw new Error(
      `Of ${clients.length} clients only some have short tokens: SHORT_TOKENS has a common divisor`,
    );
  const specs: FollowerSpec[] = [];
  const add = (role: Role, count: number) => {
    const tenants = accounts.flatMap((account, tenant) => (account.role === role ? [tenant] : []));
    for (let index = 0; index < count; index += 1) {
      const round = Math.floor(index / clients.length);
      // Each round begins at another account. Otherwise each of two accounts would be followed by the same five of
      // ten clients.
      const tenant = tenants[((index % clients.length) + round) % tenants.length]!;
      const { key, after } = accounts[tenant]!;
      const number = specs.length;
      const isShared = role === 'idle';
      const group = Math.floor(index / tenants.length / SHARERS_OF_TOKEN);
      const client = clients[index % clients.length]!;
      const topics = CLIENTS_BY_KEY.has(client) ? TOPICS_BY_KEY : TOPICS;
      specs.push({
        number,
        client,
        tenant,
        key,
        after,
        isShared,
        topic: role === 'slow' ? 'large' : topics[round % topics.length]!,
        tokenGroup: isShared ? `idle ${tenant} ${group}` : `own ${number}`,
        tokenSeconds:
          role === 'active' && index % SHORT_TOKENS === 0 ? SHORTEST_TOKEN_SECONDS : TOKEN_SECONDS,
      });
    }
  };
  add('active', active);
  add('idle', idle);
  add('slow', clients.length);
  return specs;
}

/** Kinds of cuts, each with its share in a hundred. A shared token is not revoked. */
const CUTS: Record<Exclude<Role, 'slow'>, readonly (readonly [Cut, number])[]> = {
  active: [
    ['frame', 40],
    ['reset', 15],
    ['end', 27],
    ['refusal', 15],
    ['silence', 3],
  ],
  idle: [
    ['reset', 45],
    ['end', 52],
    ['silence', 3],
  ],
};
/** One in this number of cuts is of an idle follower. */
const IDLE_CUTS = 5;

/** Draws the role whose follower is cut next. */
export function drawRole(random: Random, { idle }: Size): 'active' | 'idle' {
  return idle > 0 && random.below(IDLE_CUTS) === 0 ? 'idle' : 'active';
}

export function drawCut(random: Random, role: 'active' | 'idle'): Cut {
  let at = random.below(100);
  for (const [how, share] of CUTS[role]) {
    if (at < share) return how;
    at -= share;
  }
  return 'end';
}
