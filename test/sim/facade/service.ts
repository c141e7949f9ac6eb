import { plusMs } from '../../../server/src/kernel/clock.ts';
import { type Random, shuffled } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import {
  type Answer,
  createWire,
  NOT_FOUND,
  type Taken,
  type Wire,
  type WireTamper,
  type Write,
} from './wire.ts';

const SECOND = 1_000;

/** A payout as the service knows it: the truth with which all answers of a facade are compared. */
export interface TruePayout {
  readonly kind: 'withdrawal' | 'subaccount';
  readonly id: string;
  readonly code: string;
  /** The idempotency key of its request; null if another system of the merchant has created it. */
  readonly key: string | null;
  readonly amountCents: number;
  readonly method: string;
  readonly destination: string;
  readonly requestedAt: Date;
  status: 'open' | 'processing' | 'completed' | 'failed';
  endedAt: Date | null;
  /** Set if the webhook with its unmasked key is never sent. */
  readonly isSilent: boolean;
  /** Set once a webhook has named it completely. */
  isNamed: boolean;
}

/** The behavior of one seed's service, which the document leaves open. */
interface Habits {
  mask(destination: string): string;
  readonly hasDates: boolean;
  /** The age at which the list shows a withdrawal. */
  readonly lagMs: number;
  readonly order: 'newest first' | 'oldest first' | 'permuted';
  readonly findsOne: boolean;
  readonly showsAddresses: boolean;
}

export const SUBACCOUNT = `sacc_${'5'.repeat(32)}`;
export const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';

/** The service of the document. The seed decides what it does to each request. */
export interface Service extends Wire {
  readonly payouts: readonly TruePayout[];
  /** The gross balance: a payout is debited with its request, and credited if it fails. */
  balanceCents(): number;
  readonly habits: Pick<Habits, 'mask' | 'hasDates' | 'showsAddresses'>;
  withKey(key: string): TruePayout[];
  named(reference: string): TruePayout | undefined;
  /** Creates a payout of another system of the same merchant. */
  payForOthers(destination: string, amountCents: number, method: string): void;
  /** Moves one payout on towards its end. */
  progress(): void;
  /** Sends a false webhook of an open payout. */
  lie(): void;
}

export function createService({
  clock,
  random,
  count,
  onMade,
  tamper = {},
  knowsKeys = false,
}: {
  clock: ManualClock;
  random: Random;
  count: (what: string) => void;
  onMade: (payout: TruePayout) => void;
  tamper?: WireTamper | undefined;
  /** Whether one key creates one withdrawal, which the document leaves open. */
  knowsKeys?: boolean;
}): Service {
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const habits = habitsOf(random);
  const payouts: TruePayout[] = [];
  let made = 0;
  const wire = createWire({
    clock,
    random,
    count,
    tamper,
    books: { find, write },
  });
  const { note } = wire;

  // ── Payouts ──

  function make(
    kind: TruePayout['kind'],
    {
      key,
      amountCents,
      method,
      destination,
    }: Pick<TruePayout, 'key' | 'amountCents' | 'method' | 'destination'>,
  ): TruePayout {
    made += 1;
    const payout: TruePayout = {
      kind,
      id: made.toString(16).padStart(24, 'a'),
      code: kind === 'withdrawal' ? `SAQ-${String(made).padStart(12, '0')}` : `TURBO-${made}`,
      key,
      amountCents,
      method,
      destination,
      requestedAt: clock.now(),
      status: 'open',
      endedAt: null,
      isSilent: chance(8),
      isNamed: false,
    };
    payouts.push(payout);
    note(`makes ${payout.code} for ${key ?? 'another system'}`);
    announce(payout, payout.status);
    onMade(payout);
    return payout;
  }

  function announce(payout: TruePayout, status: TruePayout['status'], isTrue = true): void {
    if (payout.isSilent && isTrue && status !== 'failed') return;
    if (payout.kind === 'withdrawal' && status === 'processing') return;
    const body =
      payout.kind === 'withdrawal'
        ? withdrawalEvent(payout, status)
        : { event: 'subaccount.payout', ...shown(payout, status) };
    wire.announce(body, () => {
      payout.isNamed = true;
    });
  }

  /** Reverses a completed payout whose status the service has returned, and sends a webhook. */
  function reverse(payout: TruePayout): void {
    payout.status = 'failed';
    payout.endedAt = clock.now();
    note(`${payout.code} was completed, and is reversed`);
    count('a completed payout is reversed');
    announce(payout, 'failed');
  }

  function withdrawalEvent(payout: TruePayout, status: TruePayout['status']) {
    const { id, code, amountCents, method, destination, requestedAt, endedAt } = payout;
    const [event, word] =
      status === 'completed'
        ? ['completed', 'concluido']
        : status === 'failed'
          ? ['denied', 'negado']
          : ['requested', 'pendente'];
    return {
      event: `withdrawal.${event}`,
      withdrawalId: id,
      code,
      method,
      status: word,
      amount: amountCents / 100,
      walletAddress: destination,
      ...(word === 'pendente'
        ? { requestedAt: requestedAt.toISOString(), sandbox: false }
        : { processedAt: (endedAt ?? clock.now()).toISOString() }),
    };
  }

  /** A payout in the form of the document's section 2.2. */
  function shown(payout: TruePayout, status = payout.status) {
    const { id, code, key, amountCents, destination, requestedAt } = payout;
    const failed = status === 'failed';
    const at = (payout.endedAt ?? clock.now()).toISOString();
    return {
      payoutId: `saq_idem_${key}`,
      withdrawalId: id,
      code,
      subaccountId: SUBACCOUNT,
      status: status === 'completed' || failed ? status : 'processing',
      reversed: failed,
      amountCents,
      feeCents: 10,
      platformFeeCents: 5,
      netAmountCents: amountCents - 15,
      pixKey: habits.mask(destination),
      endToEndId: null,
      recipientName: null,
      recipientBankName: null,
      failureReason: failed ? 'Conta encerrada' : null,
      createdAt: requestedAt.toISOString(),
      completedAt: status === 'completed' ? at : null,
      reversedAt: failed ? at : null,
    };
  }

  function listed(payout: TruePayout) {
    const { id, code, amountCents, method, status, destination, requestedAt, endedAt } = payout;
    const word = { open: 'pendente', processing: 'processing', completed: 'concluido', failed: 'negado' }[
      status
    ];
    const masked = method === 'ltc' && habits.showsAddresses ? destination : habits.mask(destination);
    return {
      id,
      code,
      method,
      status: word,
      amount: amountCents / 100,
      walletAddress: tamper.unmask?.(masked) ?? masked,
      ...(habits.hasDates && { requestedAt: requestedAt.toISOString() }),
      ...(habits.hasDates && endedAt && { processedAt: endedAt.toISOString() }),
    };
  }

  function balanceCents(): number {
    // A subaccount's payout that arrives leaves its markup with the merchant.
    const markups = payouts.filter(({ kind, status }) => kind === 'subaccount' && status === 'completed');
    const out = payouts.filter(({ method, status }) => method !== 'ltc' && status !== 'failed');
    return out.reduce((cents, { amountCents }) => cents - amountCents, 9_000_000 + 10 * markups.length);
  }

  function list(url: URL) {
    const [limit, offset] = ['limit', 'offset'].map((name) => Number(url.searchParams.get(name) ?? 50));
    const now = clock.now();
    const visible = payouts.filter(
      ({ kind, requestedAt }) =>
        kind === 'withdrawal' && (wire.isCalm || plusMs(requestedAt, habits.lagMs) <= now),
    );
    const ordered =
      habits.order === 'permuted'
        ? shuffled(visible, random)
        : habits.order === 'oldest first'
          ? visible
          : [...visible].reverse();
    return {
      payouts: ordered.slice(offset, offset! + limit!).map(listed),
      total: visible.length,
      limit,
      offset,
    };
  }

  // ── Requests ──

  function find(url: URL): Answer {
    const path = url.pathname;
    if (path === '/v1/payouts') return { status: 200, body: list(url) };
    if (path === '/v1/wallet') {
      const balance = balanceCents() / 100;
      return { status: 200, body: { balance, withdrawable: balance, withdrawableCents: balanceCents() } };
    }
    const [, one] = /^\/v1\/payouts\/([^/]+)$/.exec(path) ?? [];
    const withdrawal = one && habits.findsOne && payouts.find(({ id, code }) => id === one || code === one);
    if (withdrawal) return { status: 200, body: listed(withdrawal) };
    const [, reference] = /^\/v1\/subaccounts\/[^/]+\/payouts\/([^/]+)$/.exec(path) ?? [];
    const name = decodeURIComponent(reference ?? '');
    const payout = payouts.find(
      ({ kind, id, code, key }) => kind === 'subaccount' && [id, code, `saq_idem_${key}`].includes(name),
    );
    if (payout) return { status: 200, body: shown(payout) };
    if (reference) return { status: 404, body: { error: 'Payout not found' } };
    if (path === `/v1/subaccounts/${SUBACCOUNT}`)
      return { status: 200, body: { id: SUBACCOUNT, name: 'Ana', balanceCents: 9_000_000 } };
    return NOT_FOUND;
  }

  function write(path: string, body: Record<string, unknown>): Write {
    const isOfSubaccount = path.startsWith('/v1/subaccounts/');
    const key = typeof body.idempotencyKey === 'string' ? body.idempotencyKey : null;
    return {
      key,
      take(): Taken {
        const payout = isOfSubaccount ? takeOfSubaccount(body, key) : takeWithdrawal(body, key);
        const requested = { withdrawal: { id: payout.id }, code: payout.code };
        return {
          answer: () =>
            isOfSubaccount
              ? { status: chance(4) ? 202 : 200, body: requested }
              : { status: 201, body: listed(payout) },
          wrong: () => ({ status: 201, body: wrongAnswer(payout) }),
        };
      },
    };
  }

  /** The answer to a request with other values: another amount, method or destination, or an earlier payout. */
  function wrongAnswer(payout: TruePayout): object {
    const before = payouts.filter(
      ({ kind, amountCents }) => kind === payout.kind && amountCents !== payout.amountCents,
    );
    const other = before.length > 0 && chance(2) ? random.pick(before) : null;
    if (payout.kind === 'subaccount') {
      const { id, code, amountCents } = other ?? { ...payout, amountCents: payout.amountCents + 1 };
      return { withdrawal: { id, amountCents }, code };
    }
    if (other) return listed(other);
    return {
      ...listed(payout),
      ...random.pick([
        { amount: payout.amountCents / 10 },
        { method: payout.method === 'ltc' ? 'pix' : 'ltc' },
        { walletAddress: 'zelia@padaria.example' },
      ]),
    };
  }

  function takeWithdrawal(body: Record<string, unknown>, key: string | null): TruePayout {
    const before = payouts.find((each) => each.kind === 'withdrawal' && key !== null && each.key === key);
    if (knowsKeys && before) return before;
    const amountCents = Math.round(Number(body.amount) * 100);
    return make('withdrawal', {
      key,
      amountCents,
      method: String(body.method),
      destination: String(body.walletAddress),
    });
  }

  function takeOfSubaccount(body: Record<string, unknown>, key: string | null): TruePayout {
    const before = payouts.find((each) => each.kind === 'subaccount' && each.key === key);
    if (before) return before;
    const amountCents = Number(body.amountCents);
    return make('subaccount', { key, amountCents, method: 'pix', destination: String(body.pixKey) });
  }

  const own: Omit<Service, keyof Wire> = {
    payouts,
    balanceCents,
    habits,
    withKey: (key) => payouts.filter((each) => each.key === key),
    named: (reference) => payouts.find(({ id, code }) => id === reference || code === reference),
    payForOthers(destination, amountCents, method) {
      make('withdrawal', { key: null, destination, amountCents, method });
    },
    progress() {
      const returnable = payouts.filter(
        ({ kind, status }) => kind === 'subaccount' && status === 'completed',
      );
      if (!wire.isCalm && returnable.length > 0 && chance(8)) {
        reverse(random.pick(returnable));
        return;
      }
      const open = payouts.filter(({ status }) => status === 'open' || status === 'processing');
      if (open.length === 0) return;
      const payout = random.pick(open);
      if (payout.method === 'pix_turbo' && payout.status === 'open') payout.status = 'processing';
      else {
        payout.status = chance(4) ? 'failed' : 'completed';
        payout.endedAt = clock.now();
      }
      note(`${payout.code} is ${payout.status}`);
      announce(payout, payout.status);
    },
    lie() {
      const open = payouts.filter(({ status }) => status === 'open' || status === 'processing');
      if (open.length === 0) return;
      const payout = random.pick(open);
      const status = random.pick(['completed', 'failed'] as const);
      note(`claims falsely that ${payout.code} is ${status}`);
      count('a false webhook');
      announce(payout, status, false);
    },
  };
  return Object.assign(wire, own);
}

function habitsOf(random: Random): Habits {
  const masks: Habits['mask'][] = [
    (text) => text.replace(/^(.).*?(@|.{4}$)/, '$1***$2'),
    (text) => `${text.slice(0, 1)}***${text.slice(-4)}`,
    () => '********',
  ];
  return {
    mask: masks[[0, 0, 0, 1, 2][random.below(5)]!]!,
    hasDates: random.below(6) > 0,
    lagMs: random.pick([0, 0, 3 * SECOND, 45 * SECOND]),
    order: random.pick(['newest first', 'newest first', 'oldest first', 'permuted']),
    findsOne: random.below(3) === 0,
    showsAddresses: random.below(2) === 0,
  };
}
