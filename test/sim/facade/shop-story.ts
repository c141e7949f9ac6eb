import { createRandom, type Random } from '../../faults/random.ts';
import { createManualClock } from '../../support/clock.ts';
import type { Violation } from '../violation.ts';
import { createRestore } from './restore.ts';
import { createShopClients, type Errand, type Page, type Sale } from './shop-clients.ts';
import { createShopService } from './shop-service.ts';
import { createStage } from './stage.ts';
import { type FacadeTamper, STEPS, type Story } from './story.ts';
import type { ServiceHost } from './wire.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const END_MS = [1, 5, 20, 60, 120, 240, 600, 1_200].map((seconds) => seconds * SECOND);
/** The most rounds of five minutes, within which all work can be done. */
const MOST_ROUNDS = 60;

const TWICE = 'nothing is done twice';
const SOLD_TWICE = 'no token sells twice';
const DONE = 'what is known as done is done';
const ABSENT = 'no refund is reported absent that exists or may yet be made';
const END = 'in the end everything is done, or given up and not done';

/**
 * A shop over a restore: transfers, refunds, and sales by tokens of single use. After the restore the operator
 * follows `server/docs/operate.md`: all requests are repeated with their keys, doubts are settled by the service's
 * tables, tokens that have sold are paused, and only then the records are confirmed.
 */
export async function playShop({
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
  const random = createRandom(seed ^ 0x0540);
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const clock = createManualClock();
  const counts = new Map<string, number>();
  const broken: (Violation & { step: number })[] = [];
  let step = 0;
  let isOver = false;
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const note = (line: string) => void service.lines.push(`${clock.now().toISOString()} ${line}`);
  const found = (law: string, what: string) => {
    note(`BROKEN ${law}: ${what}`);
    broken.push({ law, what, step });
  };

  const restore = createRestore({ databaseUrl, clock, steps, fate: random });
  const goesBack = !chance(4);
  const service = createShopService({
    ...{ clock, random, count, tamper: tamper.wire, knowsKeys: chance(2) },
    onMade: () => checkOnce(),
  });
  const { errands, sales, pages } = drawShop(random, (amountCents) => service.sellForOthers(amountCents));

  const madeFor = ({ keys }: Errand) => service.moves.filter(({ key }) => keys.includes(key));
  const paidFor = ({ name }: Sale) => service.salesOf(name).filter(({ status }) => status === 'paid');
  function checkOnce(): void {
    for (const errand of errands) {
      const made = madeFor(errand);
      if (made.length > 1) found(TWICE, `${errand.name}: ${made.map(({ id, key }) => `${id} of ${key}`)}`);
    }
    for (const sale of sales) {
      const paid = paidFor(sale);
      if (paid.length > 1) found(SOLD_TWICE, `${sale.name}: ${paid.map(({ id }) => id)}`);
    }
  }

  const stage = createStage({
    ...{ name: `l${seed}`, clock, random, databaseUrl, host, service, note, count, found },
    families: 'payments,refunds',
    onSettled: checkOnce,
  });
  const { instances, urls, settle, pass } = stage;
  const shop = createShopClients({
    ...{ clock, random, count, note },
    instances: () => instances,
    pay: (id) => !isOver && service.pay(id),
    witness: {
      onDone(errand) {
        if (madeFor(errand).length === 0) found(DONE, `${errand.name} was not made`);
      },
      onAbsent({ keys }) {
        const key = keys.at(-1)!;
        const exists = service.moves.some((move) => move.key === key);
        if (exists || service.mayStillMake(key)) found(ABSENT, key);
      },
      onPaid({ sale }, id) {
        if (!paidFor(sale).some((paid) => paid.id === id)) found(DONE, `${id} of ${sale.name} is not paid`);
      },
      onUnexpected: (what) => found('an answer can be acted on', what),
    },
  });

  async function goBack(): Promise<void> {
    // Payers are on the service's pages, and need no facade.
    for (const { started } of pages) if (started?.status === 'PENDING' && chance(2)) service.pay(started.id);
    const meanwhile = async () => shop.repeatSince(errands, restore.savedAt()!);
    await stage.goBack(restore, { marks: !tamper.forgetsMark, meanwhile });
  }

  /** The operator settles doubts by the service's tables, and then confirms the records. */
  async function operate(): Promise<void> {
    if (instances.length === 0) return;
    await restore.settleDoubts((key) => {
      if (service.mayStillMake(key)) return undefined;
      return service.moves.find((move) => move.key === key)?.id ?? null;
    });
    await settle();
    if (!restore.isBehind() || errands.some((errand) => errand.isUncertain && errand.state === 'open'))
      return;
    // An open page may be paid.
    const all = sales.flatMap(({ name }) => service.salesOf(name));
    if (all.some((payment) => service.statusOf(payment) === 'pending')) return;
    for (const sale of sales)
      if (sale.token !== null && paidFor(sale).length > 0) {
        const pausing = shop.pause(sale);
        await settle();
        await pass(30 * SECOND);
        if (!(await pausing)) return;
      }
    await restore.confirm();
    count('the records are confirmed');
    note('the records are confirmed');
  }

  /** A shop whose token is gone reads the service's tables before it mints another. */
  function mayMint({ name, mintedAt }: Sale): boolean {
    return (
      mintedAt === null ||
      service.salesOf(name).every((sale) => ['expired', 'failed'].includes(service.statusOf(sale)))
    );
  }

  function beginAll(now = false): void {
    for (const errand of errands) shop.beginErrand(errand, now);
    for (const sale of sales) if (mayMint(sale)) shop.beginSale(sale);
    for (const page of pages) shop.beginPage(page, now);
  }

  const events: readonly [number, () => unknown][] = [
    [6, () => shop.beginErrand(random.pick(errands))],
    [9, () => shop.beginPage(random.pick(pages))],
    [3, () => beginAll()],
    [8, () => pass(random.pick([200, 1_000, 3_000, 9_000, 16_000, 31_000]))],
    [2, () => pass(random.pick([61_000, 3 * MINUTE, 8 * MINUTE, 31 * MINUTE]))],
    [4, () => service.deliver(urls())],
    [2, () => service.say()],
    [1, () => service.setDown(chance(2))],
    [1, stage.killOne],
    [2, operate],
  ];
  const weight = events.reduce((sum, [each]) => sum + each, 0);

  try {
    await stage.start();
    while (step < steps && broken.length === 0) {
      step += 1;
      if (goesBack && restore.savesAt === step) await restore.save();
      if (goesBack && restore.goesBackAt === step) await goBack();
      for (const sale of sales) if (mayMint(sale)) shop.beginSale(sale);
      let at = random.below(weight);
      const [, act] = events.find(([each]) => {
        at -= each;
        return at < 0;
      })!;
      await act();
      if (chance(3)) beginAll();
      if (!chance(4)) await settle();
    }
    await settle();
    await end();
  } finally {
    await stage.close();
    await restore.close();
  }
  return { seed, lines: service.lines, counts, broken };

  async function end(): Promise<void> {
    note('the network heals');
    service.heal();
    if (instances.length === 0) await stage.start();
    for (const ms of END_MS) await goOn(ms);
    for (let round = 0; round < MOST_ROUNDS && isMoving(); round += 1) await goOn(5 * MINUTE);
    // Nobody pays any more, and every page reads once more.
    isOver = true;
    for (let round = 0; round < MOST_ROUNDS && pages.some(isUnaware); round += 1) {
      await goOn(MINUTE);
      for (const page of pages) shop.beginPage(page, true);
      await settle();
    }
    if (broken.length > 0) return;
    for (const errand of errands) {
      const { name, kind, state } = errand;
      count(`a ${kind}: ${state}`);
      const made = madeFor(errand).length;
      if (made !== (state === 'done' ? 1 : 0) || state === 'open')
        found(END, `${name} is ${state}, and was made ${made} times`);
    }
    for (const page of pages) checkPage(page);
  }

  function isMoving(): boolean {
    return broken.length === 0 && (restore.isBehind() || errands.some(({ state }) => state === 'open'));
  }

  /** Checks that a followed payment that is paid is shown as paid. */
  function checkPage(page: Page): void {
    count(`a page: ${page.state}`);
    const { sale, started } = page;
    if (isUnaware(page))
      found(END, `${started!.id} of ${sale.name} is paid, and shown as ${started!.status}`);
  }

  function isUnaware({ sale, started, state }: Page): boolean {
    return state === 'open' && paidFor(sale).some(({ id }) => id === started?.id);
  }

  async function goOn(ms: number): Promise<void> {
    if (broken.length > 0) return;
    await pass(ms);
    await service.deliver(urls(), true);
    await settle();
    if (ms >= 2 * MINUTE) await operate();
    beginAll(ms > MINUTE);
    await settle();
  }
}

function drawShop(
  random: Random,
  sellForOthers: (amountCents: number) => string,
): { errands: Errand[]; sales: Sale[]; pages: Page[] } {
  const amount = () => random.pick([10_000, 2_550]);
  const errand = (kind: Errand['kind'], index: number): Errand => {
    const name = `${kind}-${index}`;
    const amountCents = amount();
    const paymentId = kind === 'refund' ? sellForOthers(10_000) : null;
    return {
      ...{ kind, name, amountCents, paymentId, keys: [`${name}.1`], state: 'open' },
      ...{ isUncertain: false, requestedAt: null, dueAt: new Date(0) },
    };
  };
  const sales = Array.from({ length: 2 }, (_, index): Sale => {
    const methods = random.pick([['CARD'], ['PIX'], ['CARD', 'PIX']] as const);
    const externalId = random.below(2) === 0 ? `pedido-${index}` : null;
    return {
      name: `venda-${index}`,
      methods,
      amountCents: amount(),
      externalId,
      token: null,
      mintedAt: null,
    };
  });
  // Some payers have a second device.
  const pages = sales.flatMap((sale) =>
    Array.from(
      { length: 1 + random.below(2) },
      (_, device): Page => ({
        ...{ sale, retries: 0, started: null, state: 'open', dueAt: new Date(0) },
        attemptId: `${sale.name}-${device}`.padEnd(22, '0'),
      }),
    ),
  );
  const transfers = Array.from({ length: 1 + random.below(2) }, (_, index) => errand('transfer', index));
  return { errands: [...transfers, errand('refund', 0)], sales, pages };
}
