import { methodOf, type PayoutMethod } from '../../server/src/kernel/payout-methods/registry.ts';
import type { PayoutStatus } from '../../server/src/money-out/payouts/model.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import type { Audit, AuditedPayout } from './audit.ts';
import type { ChildServer } from './child.ts';
import { GIVE, OPEN, PAY_OUT, WITHDRAW } from './documents.ts';
import { type RequestSequence, repeated } from './load.ts';
import type { Random } from './random.ts';

/** A payout of the main account as its client knows it. Its amount is unique. */
interface Withdrawal {
  readonly key: string;
  readonly amountCents: number;
  readonly to: (typeof DESTINATIONS)[number];
  readonly twice: boolean;
  /** The acknowledged id; null before. */
  withdrawalId: string | null;
  /** The server that refused it by the hourly limit: the next process, whose clock is later, gets it again. */
  refusedBy: ChildServer | null;
  /** The highest version that an audit has shown; it never falls. */
  version: number;
}

export const DESTINATIONS: readonly {
  method: PayoutMethod;
  destination: string;
  leadsTo: Extract<PayoutStatus, 'completed' | 'denied'>;
}[] = [
  { method: 'pix', destination: 'ana@padaria.example', leadsTo: 'completed' },
  { method: 'pix', destination: 'nega@psa.example', leadsTo: 'denied' },
  { method: 'pix', destination: 'recusa@psa.example', leadsTo: 'denied' },
  { method: 'pix', destination: 'demora@psa.example', leadsTo: 'completed' },
  { method: 'pix', destination: 'verifica@psa.example', leadsTo: 'completed' },
  { method: 'pix_turbo', destination: 'ana@padaria.example', leadsTo: 'completed' },
  { method: 'pix_turbo', destination: 'negado@psa.example', leadsTo: 'denied' },
  { method: 'ltc', destination: 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3', leadsTo: 'denied' },
  { method: 'ltc', destination: 'ltc1q6vpftd5at0tucj4ruq4ppku9jfkk2ckeh2gjea', leadsTo: 'completed' },
  { method: 'usd', destination: 'TVCvg8adLK6hGQH5WMw2vu4DFvbKkZeDpg', leadsTo: 'completed' },
];

/** A customer of an integrator: it gets a subaccount, money, and payouts. */
interface Client {
  readonly name: string;
  readonly givenCents: number;
  readonly twice: boolean;
  readonly payouts: ClientPayout[];
  subaccountId: string | null;
  given: boolean;
}

interface ClientPayout {
  readonly key: string;
  readonly amountCents: number;
  readonly pixKey: string;
  /** `refused`: the amount exceeds the subaccount's balance. */
  readonly leadsTo: 'completed' | 'failed' | 'refused';
  /** The reference of the payout, or the code of the refusal. */
  answer: string | null;
  version: number;
}

export const PIX_KEYS = [
  { pixKey: 'bia@cliente.example', leadsTo: 'completed' },
  { pixKey: 'nega@psa.example', leadsTo: 'failed' },
  { pixKey: 'recusa@psa.example', leadsTo: 'failed' },
  { pixKey: 'verifica@psa.example', leadsTo: 'completed' },
  { pixKey: 'demora@psa.example', leadsTo: 'completed' },
] as const;

/**
 * Clients that request payouts, of the main account and of subaccounts, and repeat each unanswered request with its
 * key. They remember every answer; `complaints` lists the answers that contradict the ledger.
 */
export function createWithdrawers(random: Random) {
  const withdrawals: Withdrawal[] = [];
  const clients: Client[] = [];
  let clientPayouts = 0;

  function newWithdrawal(to = random.pick(DESTINATIONS)): RequestSequence {
    const withdrawal: Withdrawal = {
      key: `withdrawal:${withdrawals.length}`,
      amountCents: 10_000 + withdrawals.length,
      to,
      twice: random.below(4) === 0,
      withdrawalId: null,
      refusedBy: null,
      version: 0,
    };
    withdrawals.push(withdrawal);
    return {
      key: withdrawal.key,
      isOpen: (server) => withdrawal.withdrawalId === null && withdrawal.refusedBy !== server,
      step: (server, api) => withdraw(withdrawal, server, api),
    };
  }

  async function withdraw(withdrawal: Withdrawal, server: ChildServer, api: GraphQLClient): Promise<void> {
    const { key: idempotencyKey, amountCents, to, twice } = withdrawal;
    withdrawal.refusedBy = null;
    const input = {
      method: methodOf(to.method).graphql.name,
      destination: to.destination,
      amountCents,
      idempotencyKey,
    };
    const answers = await repeated(twice, async () => {
      const { done } = await api.request(WITHDRAW, { input });
      if (!done.payout && done.code !== 'RATE_LIMITED') throw new Error(`refused: ${JSON.stringify(done)}`);
      const withdrawalId: string | null = done.payout?.withdrawalId ?? null;
      withdrawal.withdrawalId ??= withdrawalId;
      return withdrawalId;
    });
    if (answers.some((withdrawalId) => withdrawalId !== withdrawal.withdrawalId))
      throw new Error(`${idempotencyKey} made ${answers.join(' and ')}`);
    if (withdrawal.withdrawalId === null) withdrawal.refusedBy = server;
  }

  function newClient(
    pixKeys: readonly (typeof PIX_KEYS)[number][] = Array.from({ length: random.below(4) }, () =>
      random.pick(PIX_KEYS),
    ),
  ): RequestSequence {
    const name = `client:${clients.length}`;
    const givenCents = 100_000 + clients.length;
    const client: Client = {
      name,
      givenCents,
      twice: random.below(4) === 0,
      payouts: pixKeys.map((pixKey, index) => {
        const amountCents = 10_000 + clientPayouts++;
        const key = `${name}:payout:${index}`;
        return { key, amountCents, ...pixKey, answer: null, version: 0 };
      }),
      subaccountId: null,
      given: false,
    };
    if (random.below(4) === 0)
      client.payouts.push({
        key: `${name}:too-much`,
        amountCents: givenCents + 1,
        pixKey: 'bia@cliente.example',
        leadsTo: 'refused',
        answer: null,
        version: 0,
      });
    clients.push(client);
    return {
      key: name,
      isOpen: () => !client.given || client.payouts.some(({ answer }) => answer === null),
      step: (_, api) => serve(client, api),
    };
  }

  async function serve(client: Client, api: GraphQLClient): Promise<void> {
    const { name, twice } = client;
    const ask = (mutation: string, input: object) =>
      repeated(twice, async () => (await api.request(mutation, { input })).done);
    const agreed = <Answer>(answers: Answer[]): Answer => {
      if (answers.some((answer) => answer !== answers[0]))
        throw new Error(`${name}: ${answers.join(' and ')}`);
      return answers[0]!;
    };
    if (client.subaccountId === null) {
      const opened = await ask(OPEN, { name, externalId: name });
      client.subaccountId = agreed(opened.map(({ subaccount }) => subaccount.subaccountId as string));
      return;
    }
    const { subaccountId } = client;
    const next = client.payouts.find(({ answer }) => answer === null);
    if (!client.given) {
      const amountCents = client.givenCents;
      const given = await ask(GIVE, { subaccountId, amountCents, idempotencyKey: `${name}:given` });
      agreed(given.map(({ subaccount }) => subaccount.subaccountId as string));
      client.given = true;
    } else if (next) {
      const { key: idempotencyKey, amountCents, pixKey } = next;
      const made = await ask(PAY_OUT, { subaccountId, amountCents, pixKey, idempotencyKey });
      const answer = agreed(made.map(({ subaccountPayout, code }) => subaccountPayout?.payoutId ?? code));
      const expected = next.leadsTo === 'refused' ? 'INSUFFICIENT_FUNDS' : `saq_idem_${idempotencyKey}`;
      if (answer !== expected) throw new Error(`${idempotencyKey}: ${JSON.stringify(made)}`);
      next.answer = answer;
    }
  }

  /** Every answer that contradicts this audit. `final`: no work is left. */
  function complaints(books: Audit, { final }: { final: boolean }): string[] {
    const complaints: string[] = [];
    const complain = (about: { key: string } | Client, what: string) =>
      complaints.push(`${JSON.stringify({ ...about, refusedBy: undefined })}: ${what}`);

    function compare(
      asked: (Withdrawal | ClientPayout) & { key: string },
      found: readonly AuditedPayout[],
      expected: { id: string | null; whose: string; status: string },
    ) {
      const [payout, ...others] = found.filter(({ amountCents }) => amountCents === asked.amountCents);
      if (others.length > 0) complain(asked, `there are ${others.length + 1}`);
      if (!payout) {
        if (expected.id !== null) complain(asked, 'is gone');
        return;
      }
      if (payout.key !== asked.key || payout.whose !== expected.whose) complain(asked, 'is another’s');
      if (expected.id !== null && payout.id !== expected.id) complain(asked, 'has another id');
      if (payout.version < asked.version)
        complain(asked, `fell from version ${asked.version} to ${payout.version}`);
      asked.version = payout.version;
      if (final && payout.status !== expected.status) complain(asked, `is ${payout.status} in the end`);
    }

    for (const withdrawal of withdrawals) {
      const { withdrawalId: id, to, refusedBy } = withdrawal;
      compare(withdrawal, books.payouts, { id, whose: to.destination, status: to.leadsTo });
      if (refusedBy && books.payouts.some(({ key }) => key === withdrawal.key))
        complain(withdrawal, 'was refused, and is there');
    }
    for (const client of clients) {
      const opened = books.subaccounts.filter(({ externalId }) => externalId === client.name);
      if (opened.length > 1) complain(client, `has ${opened.length} subaccounts`);
      if (client.subaccountId === null) continue;
      if (opened[0]?.id !== client.subaccountId) complain(client, 'has no such subaccount');
      if (client.given && opened[0]?.givenCents !== client.givenCents)
        complain(client, 'was not given it once');
      for (const payout of client.payouts) {
        const id = payout.leadsTo === 'refused' ? null : payout.answer;
        const status = payout.leadsTo === 'failed' ? 'reversed' : payout.leadsTo;
        compare(payout, books.subaccountPayouts, { id, whose: client.subaccountId, status });
        if (payout.leadsTo === 'refused' && books.subaccountPayouts.some(({ key }) => key === payout.key))
          complain(payout, 'is more than there was');
      }
      if (!final) continue;
      const gone = client.payouts.filter(({ leadsTo }) => leadsTo === 'completed');
      const left = gone.reduce((sum, { amountCents }) => sum - amountCents, client.givenCents);
      if (opened[0]?.balanceCents !== left) complain(client, `has ${opened[0]?.balanceCents}, not ${left}`);
    }
    return complaints;
  }

  return {
    newWithdrawal,
    newClient,
    complaints,
    tally: () => ({
      withdrawals: withdrawals.filter(({ withdrawalId }) => withdrawalId !== null).length,
      clients: clients.length,
      clientPayouts: clients
        .flatMap(({ payouts }) => payouts)
        .filter(({ leadsTo, answer }) => leadsTo !== 'refused' && answer !== null).length,
    }),
  };
}
