import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { type AnswerTamper, createAsk, type Data } from './ask.ts';
import type { Instance } from './instance.ts';
import type { Service } from './service.ts';

const LAW = 'the statement leads from the opening to what was last seen';
const SECOND = 1_000;
/** The most reads until one is not answered from the mirror. */
const MOST_READS = 20;

const WALLET = 'query { wallet { balanceCents } }';
const STATEMENT = `query ($startsAt: DateTime!, $endsAt: DateTime!) {
  wallet { balanceCents closing(startsAt: $startsAt, endsAt: $endsAt) {
    opening { balanceCents } closing { balanceCents } lines { kind amountCents } unexplainedCents } } }`;

/** Someone who looks at the wallet now and then, and adds the statement up in the end. */
export function createWalletWitness({
  clock,
  random,
  service,
  found,
  count,
  tamper,
}: {
  clock: ManualClock;
  random: Random;
  service: Pick<Service, 'balanceCents'>;
  found: (law: string, what: string) => void;
  count: (what: string) => void;
  tamper?: AnswerTamper | undefined;
}) {
  const ask = createAsk({ clock, random, tamper });
  const startsAt = clock.now();
  let looks = 0;

  return {
    /** Looks at the wallet, in one of some calls. What is answered makes a sighting. */
    look(instances: readonly Instance[]): void {
      if (instances.length === 0 || random.below(4) > 0) return;
      looks += 1;
      void ask(random.pick(instances), 'wallet', WALLET, {});
    },

    /** Compares the statement with the service's wallet, once the wallet is read. `pass` lets time go by. */
    async checkEnd(instance: Instance, pass: (ms: number) => Promise<void>): Promise<void> {
      if (looks === 0) return;
      for (let read = 1; ; read += 1) {
        await pass(30 * SECOND);
        const asking = ask(instance, 'statement', STATEMENT, {
          startsAt,
          endsAt: plusMs(clock.now(), 60 * SECOND),
        });
        await pass(2 * SECOND);
        const wallet: Data = (await asking)?.data?.wallet ?? null;
        if (wallet?.balanceCents === service.balanceCents()) return check(wallet.closing);
        if (read < MOST_READS) continue;
        return found(LAW, `the wallet is ${service.balanceCents()}, and shown as ${JSON.stringify(wallet)}`);
      }
    },
  };

  function check({ opening, closing, lines, unexplainedCents }: Data): void {
    count('a statement adds up');
    const sum = (all: readonly { amountCents: number }[]) =>
      all.reduce((cents, { amountCents }) => cents + amountCents, 0);
    const observed = sum(lines.filter(({ kind }: { kind: string }) => kind === 'OBSERVED'));
    if (lines.some(({ kind }: { kind: string }) => kind === 'PAYOUT')) count('a statement has a payout');
    const adds = opening.balanceCents + sum(lines) === closing.balanceCents;
    if (!adds || closing.balanceCents !== service.balanceCents() || observed !== unexplainedCents)
      found(
        LAW,
        `${service.balanceCents()}: ${JSON.stringify({ opening, closing, lines, unexplainedCents })}`,
      );
  }
}
