// The sums of the day, which the server adds up: those of the rows that are loaded would be too small.
import { type DashboardApi, RefusedError } from './api.ts';
import { type MoneyMovement, startOfDay } from './chart-hours.ts';
import { EarliestTimer } from './earliest-timer.ts';
import { DAY_TOTALS, type DayTotalsData, REFUNDED_TOTALS, type TotalsOfHours } from './operations.ts';

/** The time after which a change is in the sums, and the least time between two readings: each is six of 120 requests a minute. */
const AFTER_CHANGE_MS = 300;
const GAP_MS = 5_000;
const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;

/** A sum of the chart is whole where the server has added up all of it. */
export interface WholeSums {
  sales: boolean;
  outgoing: boolean;
}

const OUTGOING = ['payoutTotals', 'subaccountPayoutTotals', 'refundTotals'] as const;
const SALES = ['cardPaymentTotals', 'paymentTotals', 'chargeTotals'] as const;

export class DayTotals {
  movements: readonly MoneyMovement[] = [];
  whole: WholeSums = { sales: false, outgoing: false };
  readonly #api: () => DashboardApi | null;
  readonly #onRead: () => void;
  readonly #timer = new EarliestTimer(() => void this.read().catch(() => undefined));
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param onRead is called where the sums have changed */
  constructor(api: () => DashboardApi | null, onRead: () => void) {
    this.#api = api;
    this.#onRead = onRead;
  }

  /** Reads the sums again soon: something has changed. */
  touch(): void {
    this.#timer.set(Math.max(AFTER_CHANGE_MS, this.#readAt + GAP_MS - performance.now()));
  }

  /** Reads the sums again where they are a minute old, or were refused. */
  async readIfDue(): Promise<void> {
    if (performance.now() - this.#readAt >= EVERY_MS) await this.read();
  }

  stop(): void {
    this.#timer.clear();
  }

  /** Reads the sums. Where the server refuses it, the former ones stay, which are then not whole. */
  async read(): Promise<void> {
    const api = this.#api();
    if (!api) return;
    this.#readAt = performance.now();
    const fromMs = startOfDay(api.now());
    const variables = {
      from: new Date(fromMs).toISOString(),
      before: new Date(fromMs + DAY_MS).toISOString(),
    };
    try {
      const { parts, notOffered } = await api.requestParts<DayTotalsData>(DAY_TOTALS, variables);
      const isWhole = (name: keyof DayTotalsData) => notOffered.has(name) || parts[name]?.isExact === true;
      // A service that lists no refunds shows those of whole payments, with the payments.
      const refunded = notOffered.has('refundTotals')
        ? await api.requestParts<Omit<DayTotalsData, (typeof OUTGOING)[number]>>(REFUNDED_TOTALS, variables)
        : null;
      if (api !== this.#api()) return;
      const out = [...OUTGOING.map((name) => parts[name]), ...Object.values(refunded?.parts ?? {})];
      this.movements = [
        ...SALES.flatMap((name) => movements(parts[name], 1)),
        ...out.flatMap((totals) => movements(totals, -1)),
      ];
      this.whole = {
        sales: SALES.every(isWhole),
        outgoing: refunded === null && OUTGOING.every(isWhole),
      };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.whole = { sales: false, outgoing: false };
      this.#readAt = Number.NEGATIVE_INFINITY;
    }
    this.#onRead();
  }
}

/** The sums of hours as movements. LTC are no reais: the chart has neither their payments nor the payouts of their balance. */
function movements(totals: TotalsOfHours | null, sign: 1 | -1): MoneyMovement[] {
  return (totals?.groups ?? []).flatMap(({ hour, method, amountCents }) =>
    hour === null || method === 'LTC' ? [] : [{ at: new Date(hour), cents: sign * amountCents }],
  );
}
