import { brCode } from '../../../server/src/kernel/br-code.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { SUBACCOUNT } from './service.ts';
import {
  type Answer,
  createWire,
  NOT_FOUND,
  type Taken,
  type Wire,
  type WireTamper,
  type Write,
} from './wire.ts';

const SESSION_MS = 30 * 60_000;

/** A transfer or a refund as the service knows it. */
export interface TrueMove {
  readonly kind: 'transfer' | 'refund';
  readonly id: string;
  readonly key: string;
  readonly amountCents: number;
  readonly paymentId: string | null;
  readonly at: Date;
}

/** A payment that a token or another system has started. */
export interface TrueSale {
  readonly method: 'card' | 'pix';
  readonly id: string;
  /** The sale of the payment, which the shop has written into its metadata. */
  readonly sale: string | null;
  /** The key of its request; a card payment has none. */
  readonly key: string | null;
  readonly amountCents: number;
  readonly at: Date;
  status: 'pending' | 'paid' | 'failed';
  paidAt: Date | null;
}

/** The service behind a shop: transfers to a subaccount, refunds, and payments by card and PIX. */
export interface ShopService extends Wire {
  readonly moves: readonly TrueMove[];
  /** The payments of a sale. */
  salesOf(sale: string): TrueSale[];
  statusOf(sale: TrueSale): TrueSale['status'] | 'expired';
  /** Creates a payment by PIX of another system, which was paid. */
  sellForOthers(amountCents: number): string;
  /** Pays a payment on its page, or by its code, if it is open. */
  pay(id: string): void;
  /** Sends a webhook of a final payment, or a false one of an open payment. */
  say(): void;
}

export function createShopService({
  clock,
  random,
  count,
  onMade,
  tamper,
  knowsKeys,
}: {
  clock: ManualClock;
  random: Random;
  count: (what: string) => void;
  onMade: () => void;
  tamper?: WireTamper | undefined;
  /** Whether one key makes one transfer, which the document leaves open. */
  knowsKeys: boolean;
}): ShopService {
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const habits = { hasStatement: chance(2), hasList: chance(2), isDated: chance(2) };
  const moves: TrueMove[] = [];
  const sales: TrueSale[] = [];
  const wire = createWire({ clock, random, count, tamper, books: { find, write } });
  const { note } = wire;

  const statusOf = (sale: TrueSale) =>
    sale.status === 'pending' && clock.now() >= plusMs(sale.at, SESSION_MS) ? 'expired' : sale.status;

  // ── The wire's view ──

  function shownMove({ kind, id, amountCents, paymentId, at }: TrueMove) {
    const createdAt = at.toISOString();
    return kind === 'transfer'
      ? { refId: id, kind: 'transfer_in', amountCents, balanceAfterCents: amountCents, createdAt }
      : { refundId: id, paymentId, amountCents, status: 'completed', createdAt, completedAt: createdAt };
  }

  function shownSale(sale: TrueSale) {
    const { method, id, amountCents, at, paidAt } = sale;
    const shown = {
      status: statusOf(sale),
      amountCents,
      ...(habits.isDated && { createdAt: at.toISOString() }),
      expiresAt: plusMs(at, SESSION_MS).toISOString(),
      metadata: JSON.stringify(sale.sale),
      paidAt: paidAt?.toISOString() ?? null,
    };
    return method === 'card'
      ? { orderCode: id, ...shown, currency: 'BRL', checkoutUrl: `https://pague.example/${id}` }
      : { paymentId: id, method, ...shown, pix: { copyPaste: codeOf(sale) } };
  }

  function codeOf({ id, amountCents }: TrueSale): string {
    const url = `pix.example.com/${id.slice(-8)}`;
    return brCode({ url, amountCents, merchantName: 'Padaria', merchantCity: 'Recife' });
  }

  function announce(sale: TrueSale, status: 'paid' | 'failed' | 'expired'): void {
    const { method, id, amountCents } = sale;
    const at = clock.now().toISOString();
    const own =
      method === 'card'
        ? { event: `card_payment.${status}`, orderCode: id, amount: amountCents / 100 }
        : { event: `payment.${status}`, paymentId: id, amountCents };
    wire.announce({ ...own, status, metadata: JSON.stringify(sale.sale), [`${status}At`]: at });
  }

  function page(url: URL, name: string, items: object[]): Answer {
    const [limit, offset] = ['limit', 'offset'].map((each) => Number(url.searchParams.get(each) ?? 50));
    const body = { [name]: items.slice(offset, offset! + limit!), total: items.length, limit, offset };
    return { status: 200, body };
  }

  function find(url: URL): Answer {
    const path = url.pathname;
    if (path === '/v1/wallet')
      return { status: 200, body: { balance: 90_000, withdrawable: 90_000, withdrawableCents: 9_000_000 } };
    if (path === `/v1/subaccounts/${SUBACCOUNT}`)
      return { status: 200, body: { id: SUBACCOUNT, name: 'Ana', balanceCents: 9_000_000 } };
    if (path === `/v1/subaccounts/${SUBACCOUNT}/statement` && habits.hasStatement) {
      const transfers = moves.filter(({ kind }) => kind === 'transfer').reverse();
      return page(url, 'entries', transfers.map(shownMove));
    }
    if (path === '/v1/card-payments' && habits.hasList) {
      const cards = sales.filter(({ method }) => method === 'card').reverse();
      return page(url, 'cardPayments', cards.map(shownSale));
    }
    const [, family, reference = ''] = /^\/v1\/(card-payments|payments|refunds)\/([^/]+)$/.exec(path) ?? [];
    const name = decodeURIComponent(reference);
    if (family === 'refunds') {
      const refund = moves.find(
        ({ kind, id, key }) => kind === 'refund' && (id === name || `ref_idem_${key}` === name),
      );
      return refund
        ? { status: 200, body: shownMove(refund) }
        : { status: 404, body: { error: 'Refund not found' } };
    }
    if (family === undefined) return NOT_FOUND;
    const sale = sales.find(({ id }) => id === name);
    return sale
      ? { status: 200, body: shownSale(sale) }
      : { status: 404, body: { error: 'Payment not found' } };
  }

  // ── What is written ──

  function write(path: string, body: Record<string, unknown>): Write | null {
    const key = typeof body.idempotencyKey === 'string' ? body.idempotencyKey : null;
    const [, refunded] = /^\/v1\/payments\/([^/]+)\/refunds$/.exec(path) ?? [];
    if (path === `/v1/subaccounts/${SUBACCOUNT}/transfers`)
      return { key, take: () => takeMove('transfer', key!, body, null) };
    if (refunded) return { key, take: () => takeMove('refund', key!, body, refunded) };
    if (path === '/v1/card-payments') return { key, take: () => takeSale('card', null, body) };
    if (path === '/v1/payments') return { key, take: () => takeSale('pix', key, body) };
    return null;
  }

  /** The families that an operator has named do one request for one key. For transfers the document leaves that open. */
  function takeMove(
    kind: TrueMove['kind'],
    key: string,
    body: Record<string, unknown>,
    paymentId: string | null,
  ): Taken {
    const before = moves.find((each) => each.kind === kind && each.key === key);
    const isKnown = before !== undefined && (knowsKeys || kind === 'refund');
    const move = isKnown ? before : makeMove(kind, key, Number(body.amountCents), paymentId);
    return {
      answer: () => ({ status: 201, body: shownMove(move) }),
      wrong: () => ({ status: 201, body: { ...shownMove(move), amountCents: move.amountCents + 1 } }),
    };
  }

  function makeMove(kind: TrueMove['kind'], key: string, amountCents: number, paymentId: string | null) {
    const number = moves.length + 1;
    const id = kind === 'transfer' ? `rep_${number}` : `ref_${number.toString(16).padStart(24, 'b')}`;
    const move: TrueMove = { kind, id, key, amountCents, paymentId, at: clock.now() };
    moves.push(move);
    note(`makes ${id} for ${key}`);
    onMade();
    return move;
  }

  function takeSale(method: TrueSale['method'], key: string | null, body: Record<string, unknown>): Taken {
    const before = sales.find((each) => key !== null && each.key === key);
    const sale = before ?? makeSale(method, key, Number(body.valueCents), JSON.parse(String(body.metadata)));
    return {
      answer: () => ({ status: 201, body: shownSale(sale) }),
      wrong: () => ({ status: 201, body: { ...shownSale(sale), amountCents: sale.amountCents + 1 } }),
    };
  }

  function makeSale(
    method: TrueSale['method'],
    key: string | null,
    amountCents: number,
    name: string | null,
  ): TrueSale {
    const number = sales.length + 1;
    const id = method === 'card' ? `PEDIDO${number}` : `psa_${String(number).padStart(32, '0')}`;
    const sale: TrueSale = {
      ...{ method, id, sale: name, key, amountCents, at: clock.now() },
      ...{ status: 'pending', paidAt: null },
    };
    sales.push(sale);
    note(`makes ${id} for ${name ?? 'another system'}`);
    return sale;
  }

  const own: Omit<ShopService, keyof Wire> = {
    moves,
    salesOf: (name) => sales.filter(({ sale }) => sale === name),
    statusOf,
    sellForOthers(amountCents) {
      const sale = makeSale('pix', null, amountCents, null);
      Object.assign(sale, { status: 'paid', paidAt: clock.now() });
      return sale.id;
    },
    pay(id) {
      const sale = sales.find((each) => each.id === id)!;
      if (statusOf(sale) !== 'pending') return;
      sale.status = sale.method === 'card' && chance(4) ? 'failed' : 'paid';
      if (sale.status === 'paid') sale.paidAt = clock.now();
      note(`${id} is ${sale.status}`);
      count(`a payment by ${sale.method}: ${sale.status}`);
      announce(sale, sale.status);
      onMade();
    },
    say() {
      if (sales.length === 0) return;
      const sale = random.pick(sales);
      const status = statusOf(sale);
      if (status === 'expired') announce(sale, status);
      if (status !== 'pending') return;
      const word = random.pick(['failed', 'expired'] as const);
      note(`claims falsely that ${sale.id} is ${word}`);
      count('a false webhook of a payment');
      announce(sale, word);
    },
  };
  return Object.assign(wire, own);
}
