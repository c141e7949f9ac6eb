import { createRandom, type Random } from '../../faults/random.ts';
import { createManualClock } from '../../support/clock.ts';
import type { Violation } from '../violation.ts';
import type { AnswerTamper } from './ask.ts';
import { createClientOf, type Invoice } from './client.ts';
import { createRestore } from './restore.ts';
import { createService, LTC, type TruePayout } from './service.ts';
import { createStage } from './stage.ts';
import { createWalletWitness } from './wallet-witness.ts';
import type { ServiceHost, WireTamper } from './wire.ts';
import { createJudge } from './witness.ts';

/** A fault that a facade could have, inserted at its two borders. */
export interface FacadeTamper {
  /** Set if a restore sets no mark. */
  readonly forgetsMark?: boolean;
  readonly wire?: WireTamper;
  readonly answers?: AnswerTamper;
}

/** The outcome of one seed. */
export interface Story {
  readonly seed: number;
  readonly lines: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly broken: readonly (Violation & { step: number })[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
export const STEPS = 30;
/**
 * The final instants, when everything is decided: after a quarter of an hour a request that was never done is known
 * as such.
 */
const END_MS = [
  ...[1, 5, 20, 60].map((seconds) => seconds * SECOND),
  ...[2, 4, 6, 10, 10, 20, 61, 61, 61].map((minutes) => minutes * MINUTE),
];

const PEOPLE = ['ana@padaria.example', 'andre@padaria.example', 'alba@padaria.example'];
/** Destinations that only other systems pay; their masks equal those of the invoices. */
const STRANGERS = ['amelia@padaria.example', 'artur@padaria.example'];
const AMOUNTS = [10_000, 2_550];

/** Plays the life of some invoices, and its end: the network heals, and time passes. */
export async function playStory({
  seed,
  databaseUrl,
  host,
  tamper = {},
  steps = STEPS,
}: {
  seed: number;
  /** The URL of a migrated, empty database. */
  databaseUrl: string;
  host: ServiceHost;
  tamper?: FacadeTamper | undefined;
  steps?: number | undefined;
}): Promise<Story> {
  const random = createRandom(seed);
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const clock = createManualClock();
  const counts = new Map<string, number>();
  const broken: (Violation & { step: number })[] = [];
  let step = 0;
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const note = (line: string) => void service.lines.push(`${clock.now().toISOString()} ${line}`);
  const found = (law: string, what: string) => {
    note(`BROKEN ${law}: ${what}`);
    broken.push({ law, what, step });
  };

  // Random numbers of their own, so that a seed without a restore is played as before.
  const fate = createRandom(seed ^ 0x5eed);
  const restore = fate.below(2) === 0 ? createRestore({ databaseUrl, clock, steps, fate }) : null;

  const service = createService({
    clock,
    random,
    count,
    knowsKeys: fate.below(2) === 0,
    onMade: (payout) => judge.onMade(payout),
    tamper: tamper.wire,
  });
  const invoices = drawInvoices(random);
  const judge = createJudge({ service, invoices, found, count });

  const stage = createStage({
    ...{ name: `s${seed}`, clock, random, databaseUrl, host, service, note, count, found },
    onSettled: () => invoices.forEach((invoice) => void judge.checkOnce(invoice)),
  });
  const { instances, urls, start, settle, pass, serve } = stage;
  function payForOthers(): void {
    service.payForOthers(random.pick(STRANGERS), random.pick(AMOUNTS), random.pick(['pix', 'pix_turbo']));
  }

  await start();
  if (chance(4)) await start();
  const client = createClientOf({
    clock,
    random,
    count,
    note,
    witness: judge,
    instances: () => instances,
    tamper: tamper.answers,
  });

  const walletWitness = createWalletWitness({
    ...{ clock, service, found, count, tamper: tamper.answers },
    // Random numbers of their own, too.
    random: createRandom(seed ^ 0x0a11e7),
  });

  /** The operator settles doubts by the service's tables. */
  async function operate(): Promise<void> {
    if (!restore?.isBehind() || instances.length === 0) return;
    await client.list(instances[0]!);
    await settle();
    await restore.settleDoubts((key) => {
      if (service.mayStillMake(key)) return undefined;
      return service.withKey(key)[0]?.code ?? null;
    });
    await settle();
  }

  const events: readonly [number, () => unknown][] = [
    [14, () => client.begin(random.pick(invoices))],
    [8, () => pass(random.pick([200, 1_000, 3_000, 9_000, 16_000, 31_000]))],
    [2, () => pass(random.pick([61_000, 3 * MINUTE, 8 * MINUTE, 16 * MINUTE]))],
    [6, () => service.deliver(urls())],
    [5, () => service.progress()],
    [1, () => service.lie()],
    [2, payForOthers],
    [1, () => service.setDown(chance(2))],
    [1, stage.killOne],
  ];
  const weight = events.reduce((sum, [each]) => sum + each, 0);

  try {
    while (step < steps && broken.length === 0) {
      step += 1;
      if (restore?.savesAt === step) await restore.save();
      if (restore?.goesBackAt === step)
        await stage.goBack(restore, { marks: !tamper.forgetsMark, meanwhile: client.readAgain });
      let at = random.below(weight);
      const [, act] = events.find(([each]) => {
        at -= each;
        return at < 0;
      })!;
      await act();
      // Some begin while others are open.
      if (chance(3)) client.begin(random.pick(invoices));
      walletWitness.look(instances);
      if (!chance(4)) await settle();
    }
    await settle();
    await end();
  } finally {
    await client.close();
    await stage.close();
    await restore?.close();
  }
  return { seed, lines: service.lines, counts, broken };

  async function end(): Promise<void> {
    note('the network heals');
    service.heal();
    if (instances.length === 0) await start();
    for (const ms of END_MS) {
      if (broken.length > 0) return;
      await goOn(ms);
      if (ms >= 10 * MINUTE && !isMoving() && !hasDoubts()) break;
    }
    for (let round = 0; round < MOST_ROUNDS && isMoving() && broken.length === 0; round += 1)
      await goOn(2 * MINUTE);
    for (const invoice of invoices) client.begin(invoice, true);
    await pass(5 * SECOND);
    // A key that the restored records lack is in doubt when it is requested again.
    for (let round = 0; round < MOST_ROUNDS && restore?.isBehind() && hasDoubts(); round += 1)
      await goOn(2 * MINUTE);
    for (let round = 0; round < MOST_ROUNDS && broken.length === 0; round += 1) {
      const looking = client.lookAgain();
      await serve();
      await pass(MINUTE);
      await looking;
      // A new answer may lead to another attempt.
      if (!isMoving()) break;
      await goOn(2 * MINUTE);
    }
    if (broken.length > 0) return;
    for (const invoice of invoices)
      judge.checkEnd(invoice, client.outcomeOf(invoice), client.attemptsOf(invoice));
    await checkAgreement();
    await walletWitness.checkEnd(instances[0]!, pass);
  }

  async function goOn(ms: number): Promise<void> {
    await pass(ms);
    for (let n = 0; n < PROGRESS_AT_ONCE; n += 1) service.progress();
    await service.deliver(urls(), true);
    await settle();
    if (ms >= 2 * MINUTE) await operate();
    for (const invoice of invoices) client.begin(invoice, ms > MINUTE);
    await settle();
  }

  function hasDoubts(): boolean {
    return invoices.some((invoice) => client.attemptsOf(invoice).at(-1)?.payout?.inDoubt === true);
  }

  /** Whether a state will still change by itself: doubts that remain then are final. */
  function isMoving(): boolean {
    const isOpen = (invoice: Invoice) =>
      client.outcomeOf(invoice) === 'open' && !client.attemptsOf(invoice).at(-1)?.payout?.inDoubt;
    const hasEnded = ({ status }: TruePayout) => status === 'completed' || status === 'failed';
    return invoices.some(isOpen) || !service.payouts.every(hasEnded);
  }

  /** Checks that each id that was ever shown finds its payout, on every instance. */
  async function checkAgreement(): Promise<void> {
    if (instances.length === 1 && chance(3)) await start();
    for (const id of judge.ids()) {
      const states = new Set<string>();
      for (const instance of instances) {
        const reading = client.readById(instance, id);
        await settle();
        const payout = await reading;
        if (payout === null) found('an id never changes its meaning', `${id} leads to nothing in the end`);
        if (!payout) continue;
        judge.onId(id, payout, 'in the end');
        states.add(JSON.stringify(payout));
      }
      if (states.size > 1) found('instances agree in the end', [...states].join(' and '));
    }
  }
}

const PROGRESS_AT_ONCE = 8;
/** The most rounds: an invoice may be denied again and again. */
const MOST_ROUNDS = 40;

function drawInvoices(random: Random): Invoice[] {
  return Array.from({ length: 2 + random.below(3) }, (_, number): Invoice => {
    const kind = random.below(5) < 3 ? 'withdrawal' : 'subaccount';
    const method =
      kind === 'subaccount' ? 'PIX' : random.pick(['PIX', 'PIX', 'PIX', 'PIX_TURBO', 'LTC'] as const);
    const destination = method === 'LTC' ? LTC : random.pick(PEOPLE);
    return { number, kind, method, destination, amountCents: random.pick(AMOUNTS) };
  });
}
