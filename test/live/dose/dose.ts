import { setImmediate as turn } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import { DEFAULT_SETTINGS } from '../../../server/src/access/model.ts';
import { insertAccount, insertApiKey } from '../../../server/src/access/store.ts';
import { hashSecret, objectId, secret } from '../../../server/src/kernel/ids.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createRandom, type Random, shuffled } from '../../faults/random.ts';
import { fund } from '../../support/funds.ts';
import { createClient } from '../../support/graphql.ts';
import { CLIENTS_BY_KEY } from '../clients.ts';
import { startInstances } from './cluster.ts';
import type { FollowerSpec } from './followers.ts';
import { type Findings, judge } from './judge.ts';
import type { Memory } from './oracle.ts';
import { drawCut, drawRole, planAccounts, planFollowers, type Role, type Size } from './plan.ts';
import { startFollowers } from './processes.ts';
import type { Cut } from './relay.ts';
import type { TopicName } from './topics.ts';
import { createWriter, type Kind } from './writers.ts';

export const INSTANCES = 3;

export interface Dose extends Size {
  databaseUrl: string;
  database: Database;
  seed: number;
  /** Receives a line for each phase. */
  log(line: string): void;
}

export interface Report extends Findings {
  /**
   * Followers that did not receive an update, or did not connect, in time. The log may still show that they missed
   * nothing.
   */
  late: number;
  memory: Record<'before' | 'loaded' | 'quarter' | 'end' | 'restarted' | 'left', Memory>;
  /** The error output of the instances. */
  logged: string[];
}

interface Account {
  tenant: Tenant;
  key: string;
  role: Role;
  after: string;
  /** The id of the last resource of each topic that was created before anybody followed. */
  first: Record<TopicName, string>;
  payoutsLeft: number;
}

/** A time that is longer than any client waits, or takes to notice silence. */
const PATIENCE_MS = 600_000;
/** The share of cuts that are made without restarts, and the share of those before the first measurement of memory. */
const STEADY_SHARE = 0.7;
const QUARTER = 0.25;
/** The number of payouts; the hourly limit of an account is 10. */
const PAYOUTS = 8;
/** One in this number of events is a payout, until the account's limit is reached. */
const PAYOUT_SHARE = 10;
/** The number of events that exceeds a subscription's queue and a machine's buffers. */
const LARGE_EVENTS = 500;
const WRITERS = 4;

/** Runs a dose, and compares the updates of each follower with the log. */
export async function runDose(dose: Dose): Promise<Report> {
  const { database, databaseUrl, seed, log } = dose;
  const random = createRandom(seed);
  const started = Date.now();
  const say = (text: string) => log(`${Math.round((Date.now() - started) / 1_000)} s: ${text}`);
  say(`seed ${seed}`);
  const instances = await startInstances({ count: INSTANCES, databaseUrl });
  const writer = createWriter(instances.endpoints);
  const memory = {} as Report['memory'];
  const measure = async (place: keyof Report['memory']) => {
    memory[place] = await instances.memory();
    say(`${place}: ${memory[place].heldMb} MB held, ${memory[place].rssMb} MB of the processes`);
  };
  let late = 0;
  try {
    const accounts = await openAccounts(dose, writer);
    const specs = planFollowers(dose, accounts);
    await measure('before');
    const followers = await startFollowers(instances.ports, specs);
    try {
      late += (await followers.follow(({ tenant, topic }) => accounts[tenant]!.first[topic], PATIENCE_MS))
        .length;
      say(`${specs.length} followers stand at the live end`);
      await refuse(instances.endpoints, accounts[0]!.key);
      await measure('loaded');

      const cutter = createCutter({ dose, random, accounts, specs, followers, writer, say });
      const steady = Math.round(dose.cuts * STEADY_SHARE);
      const quarter = Math.round(steady * QUARTER);
      await cutter.cut(quarter);
      say(`${quarter} cuts`);
      await measure('quarter');
      await cutter.cut(steady - quarter);
      say(`${steady} cuts`);
      await measure('end');

      const slow = specs.filter(({ tenant }) => accounts[tenant]!.role === 'slow');
      for (let round = 0; round < dose.slowReads; round += 1) late += await readSlowly(slow);
      say(`${dose.slowReads} times ${slow.length} followers read nothing`);

      const disturbed = disturb();
      await cutter.cut(dose.cuts - steady, disturbed);
      await disturbed;
      say('all cuts, restarts and kills');
      late += cutter.late();
      late += await end();
      await measure('restarted');
      const received = await followers.received();
      await followers.leave();
      await measure('left');
      const findings = await judge(
        database,
        accounts.map(({ tenant }) => tenant),
        { specs, isActive: ({ tenant }) => accounts[tenant]!.role === 'active', received },
      );
      return { ...findings, late, memory, logged: instances.errors };
    } finally {
      await followers.stop();
    }

    /** Restarts and kills instances in a random order, each after the followers of the one before have come back. */
    async function disturb(): Promise<void> {
      const turns = [...Array(dose.restarts).fill('restart'), ...Array(dose.kills).fill('kill')];
      for (const turn of shuffled(turns, random)) {
        if (turn === 'restart') await instances.restart();
        else await instances.kill(random.below(INSTANCES));
        const missing = await waitForMissing(
          specs.map(({ number }) => number),
          (numbers) => followers.notConnected(numbers, PATIENCE_MS),
        );
        late += missing.length;
        say(`after a ${turn} ${specs.length - missing.length} followers are connected`);
      }
    }

    /** Creates more events than these followers' queues hold, while the followers read nothing. */
    async function readSlowly(slow: readonly FollowerSpec[]): Promise<number> {
      const numbers = slow.map(({ number }) => number);
      const { key } = accounts[slow[0]!.tenant]!;
      await followers.pause(numbers);
      let left = LARGE_EVENTS;
      const write = async () => {
        while (left-- > 0) await writer.create(key, 'large');
      };
      await Promise.all(Array.from({ length: WRITERS }, write));
      await followers.resume(numbers);
      const last = await writer.create(key, 'large');
      return (
        await followers.haveNot(
          numbers.map((number) => [number, last]),
          PATIENCE_MS,
        )
      ).length;
    }

    /** Creates the last resource of each topic in each account, and waits until all followers have it. */
    async function end(): Promise<number> {
      // The events of a payout's later states come first.
      while (await hasOpenPayouts(database)) await writer.updatesCursor(accounts[0]!.key);
      const last = await Promise.all(accounts.map(({ key }) => createOfEach(writer, key)));
      const idOf = new Map(specs.map(({ number, tenant, topic }) => [number, last[tenant]![topic]]));
      const missing = await waitForMissing([...idOf.keys()], (numbers) =>
        followers.haveNot(
          numbers.map((number) => [number, idOf.get(number)!]),
          PATIENCE_MS,
        ),
      );
      return missing.length;
    }
  } finally {
    await instances.close();
  }
}

/** Waits again while the number of missing followers falls: 10,000 take their time on a slow machine. */
async function waitForMissing(
  followers: readonly number[],
  missingOf: (followers: readonly number[]) => Promise<number[]>,
): Promise<readonly number[]> {
  const missing = await missingOf(followers);
  return missing.length === 0 || missing.length === followers.length
    ? missing
    : waitForMissing(missing, missingOf);
}

/** Causes an error on each instance, which then reads the names of its sources for the stack: 26 MB, once. */
async function refuse(endpoints: readonly string[], key: string): Promise<void> {
  for (const endpoint of endpoints)
    await createClient(endpoint, key).send('{ payments(first: -1) { nodes { paymentId } } }');
}

async function openAccounts(dose: Dose, writer: ReturnType<typeof createWriter>): Promise<Account[]> {
  const { database } = dose;
  const accounts: Account[] = [];
  for (const role of planAccounts(dose)) {
    const tenant: Tenant = { accountId: `acc_${objectId()}`, environment: 'live' };
    const key = secret('ps_live_');
    const createdAt = new Date();
    await insertAccount(
      database.sql,
      { id: tenant.accountId, name: `Loja ${accounts.length}`, ...DEFAULT_SETTINGS },
      createdAt,
    );
    await insertApiKey(database.sql, tenant, {
      id: `key_${objectId()}`,
      secretHash: hashSecret(key),
      permissions: [],
      createdAt,
    });
    const after = await writer.updatesCursor(key);
    // Creates the log, and the resources by which followers know that they follow.
    const first = await createOfEach(writer, key);
    if (role === 'active') await fund({ database, tenant }, { cents: 10_000_000 });
    accounts.push({ tenant, key, role, after, first, payoutsLeft: role === 'active' ? PAYOUTS : 0 });
  }
  return accounts;
}

/** Creates a payment of each kind. Returns the id of the last one in each topic. */
async function createOfEach(
  writer: ReturnType<typeof createWriter>,
  key: string,
): Promise<Record<TopicName, string>> {
  const cardPayments = await writer.create(key, 'card_payment');
  const payments = await writer.create(key, 'payment');
  return { cardPayments, payments, account: payments, large: cardPayments };
}

async function hasOpenPayouts(database: Database): Promise<boolean> {
  const { rows } = await database.sql.executeQuery(
    CompiledQuery.raw("select 1 from payout where status not in ('completed', 'denied') limit 1"),
  );
  return rows.length > 0;
}

/** Cuts followers at random, several at a time, each with events during its outage. */
function createCutter({
  dose,
  random,
  accounts,
  specs,
  followers,
  writer,
  say,
}: {
  dose: Size;
  random: Random;
  accounts: readonly Account[];
  specs: readonly FollowerSpec[];
  followers: Awaited<ReturnType<typeof startFollowers>>;
  writer: ReturnType<typeof createWriter>;
  say: (text: string) => void;
}) {
  const ofRole = (role: Role) => specs.filter(({ tenant }) => accounts[tenant]!.role === role);
  const candidates = { active: ofRole('active'), idle: ofRole('idle') };
  const atOnce = Math.min(40, Math.max(4, Math.ceil(dose.active / 25)));
  const busy = new Set<number>();
  /** Each kind comes once before kinds are drawn. */
  const due: Cut[] = ['silence', 'refusal', 'end', 'reset', 'frame'];
  let late = 0;
  let silent = 0;
  /** Whether instances are being restarted and killed. */
  let isDisturbed = false;

  /** Waits for one follower, and once more if instances were restarted or killed meanwhile. */
  async function waitForOne({ number, client }: FollowerSpec, what: string, isThere: () => Promise<boolean>) {
    for (let again = true; again; ) {
      again = isDisturbed;
      if (await isThere()) return;
    }
    late += 1;
    say(`follower ${number} by ${client} is late: ${what}`);
  }

  async function countSilent(outage: Promise<void>): Promise<void> {
    silent += 1;
    await outage;
    silent -= 1;
  }

  function kindFor({ tenant, topic }: FollowerSpec): Kind {
    if (topic === 'cardPayments') return 'card_payment';
    if (topic === 'payments') return 'payment';
    const account = accounts[tenant]!;
    if (account.payoutsLeft > 0 && random.below(PAYOUT_SHARE) === 0) {
      account.payoutsLeft -= 1;
      return 'payout';
    }
    return random.pick(['card_payment', 'payment']);
  }

  /** Cuts one follower. Returns the end of its outage, or null if the follower had no connection. */
  async function cutOne(): Promise<{ how: Cut; resume: () => Promise<void> } | null> {
    const role = drawRole(random, dose);
    const spec = random.pick(candidates[role]);
    const { number } = spec;
    if (busy.has(number)) {
      await turn();
      return null;
    }
    const drawn = (role === 'active' && due.pop()) || drawCut(random, role);
    if (drawn === 'refusal' && CLIENTS_BY_KEY.has(spec.client)) {
      // This follower uses the common key: the refusal is left to the next follower with a token.
      due.push(drawn);
      return null;
    }
    const how = drawn === 'silence' && silent >= atOnce ? 'end' : drawn;
    busy.add(number);
    const { key } = accounts[spec.tenant]!;
    const token = how === 'refusal' ? await followers.tokenOf(number) : null;
    if (!(await followers.beginCut(number, how, random.below(2) === 0))) {
      if (role === 'active') due.push(drawn);
      busy.delete(number);
      return null;
    }
    // These two cuts happen at the server's next bytes.
    if (how === 'frame') await writer.create(key, kindFor(spec));
    if (token) await writer.revoke(key, token);
    await waitForOne(spec, `its cut by ${how}`, () => followers.isCut(number, PATIENCE_MS));
    const resume = async () => {
      let last: string | null = null;
      if (role === 'active')
        for (let events = 1 + random.below(3); events > 0; events -= 1)
          last = await writer.create(key, kindFor(spec));
      await followers.restore(number);
      await waitForOne(spec, `its return after a cut by ${how}`, async () => {
        const missing = await (last
          ? followers.haveNot([[number, last]], PATIENCE_MS)
          : followers.notConnected([number], PATIENCE_MS));
        return missing.length === 0;
      });
      busy.delete(number);
    };
    return { how, resume };
  }

  return {
    late: () => late,
    /** Cuts this number of connections, and more until `during` ends. Resolves when all followers have come back. */
    async cut(count: number, during: Promise<void> = Promise.resolve()): Promise<void> {
      let left = count;
      isDisturbed = true;
      const over = during.finally(() => {
        isDisturbed = false;
      });
      const outages: Promise<void>[] = [];
      const work = async () => {
        while (left > 0 || isDisturbed) {
          left -= 1;
          const one = await cutOne();
          if (!one) {
            left += 1;
            continue;
          }
          const outage = one.resume();
          if (one.how !== 'silence') await outage;
          // A client takes most of a minute to notice this cut.
          else outages.push(countSilent(outage));
        }
      };
      await Promise.all([over, ...Array.from({ length: atOnce }, work)]);
      await Promise.all(outages);
    },
  };
}
