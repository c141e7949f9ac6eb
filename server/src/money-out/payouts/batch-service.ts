import { type Clock, DAY_MS, plusMs } from '../../kernel/clock.ts';
import { NotFoundError, ValidationError } from '../../kernel/errors.ts';
import { deterministicId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { methodOf } from '../../kernel/payout-methods/registry.ts';
import type { Gap } from '../../kernel/records.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { type Committer, put } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import {
  type BatchRow,
  checkOf,
  decideBatch,
  decideCancelBatch,
  decideResumeBatch,
  type PaidRow,
  type ParsedRows,
  type PayoutBatch,
  type PayoutBatchService,
  parseRows,
  type RowError,
  statusOfBatch,
} from './batch.ts';
import { batches, batchOfRows, NEWEST, newestBatch, nextRowTask } from './batch-collections.ts';
import { PAID_WITHIN_MS, paidRows } from './batch-paid.ts';
import { countBatches, selectNewestBatch, selectSameRows } from './batch-store.ts';
import { assertAmount } from './decisions.ts';
import { LIMITED_METHODS, lastRequestAt, leftNow, PAYOUTS_AN_HOUR, type RecentPayouts } from './limits.ts';
import { type AccountSettings, type PayoutFilter, type PayoutService, variantOf } from './model.ts';

const REQUEST = 'requestPayoutBatch';

/** Batches of payouts: a request is a record and a task. */
export function createPayoutBatches({
  database,
  committer,
  clock,
  payouts,
  settingsOf,
  newestGap,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  payouts: () => Pick<PayoutService, 'listKept' | 'findKept' | 'listOfAmounts'>;
  /** Reads the fees and the ceiling of an account; null in front of another service, which has them. */
  settingsOf: ((tenant: Tenant) => Promise<AccountSettings>) | null;
  newestGap: () => Promise<Gap | null>;
}): PayoutBatchService {
  const readSettings = async (tenant: Tenant) => (settingsOf ? settingsOf(tenant) : null);

  /** Reads the payouts that the hourly limits count. In front of another service they are those that it has shown. */
  async function readRecent(tenant: Tenant): Promise<RecentPayouts> {
    const newest = async (limit: number, filter: PayoutFilter = {}) => {
      const range = { end: 'first', limit, after: undefined, before: undefined, ...filter } as const;
      const { items } = await payouts().listKept(tenant, range);
      const instants = items.flatMap(({ payout }) => payout.requestedAt ?? []);
      // The limits here count payouts in their order: after a step back of the clock a newer one may look older.
      return settingsOf ? instants : instants.sort((left, right) => right.getTime() - left.getTime());
    };
    const ofMethods = LIMITED_METHODS.map(
      async ({ method, most }) => [method, await newest(most, { method: [method] })] as const,
    );
    return {
      all: await newest(PAYOUTS_AN_HOUR),
      byMethod: Object.fromEntries(await Promise.all(ofMethods)),
    };
  }

  const endOf = async (tenant: Tenant, rows: readonly Pick<BatchRow, 'method'>[]) =>
    lastRequestAt(
      rows.map(({ method }) => method),
      await readRecent(tenant),
      clock.now(),
    );

  /** Counts the payouts of a batch that have failed, and those in doubt. */
  async function readFailed(tenant: Tenant, { rows }: PayoutBatch) {
    const ids = rows.flatMap(({ outcome }) => (outcome && 'payoutId' in outcome ? outcome.payoutId : []));
    const own = (await payouts().findKept(tenant, ids)).filter((payout) => payout !== null);
    return {
      denied: own.filter(({ status }) => status === 'denied' || status === 'returned').length,
      inDoubt: own.filter(({ inDoubt }) => inDoubt).length,
    };
  }

  /** Reads which rows repeat payouts of the last days. */
  async function readPaid(tenant: Tenant, rows: ParsedRows['rows']): Promise<PaidRow[]> {
    const amounts = rows.map(({ amountCents }) => amountCents);
    return paidRows(
      rows,
      await payouts().listOfAmounts(tenant, amounts, plusMs(clock.now(), -PAID_WITHIN_MS)),
    );
  }

  return {
    async terms(tenant, input) {
      const { method, destination } = input;
      const [settings, recent] = await Promise.all([readSettings(tenant), readRecent(tenant)]);
      if (settings) assertAmount(input, settings);
      const now = clock.now();
      const [paidBefore = null] = await readPaid(tenant, [input]);
      return {
        feeCents: settings?.payoutFeesCents[method] ?? null,
        destination,
        destinationKind: variantOf(method, destination),
        hourly: {
          most: PAYOUTS_AN_HOUR,
          left: settings && leftNow(recent, now),
          mostOfMethod: methodOf(method).hourly?.most ?? null,
        },
        paidBefore,
        possibleAt: lastRequestAt([method], recent, now),
      };
    },

    async check(tenant, given) {
      const settings = await readSettings(tenant);
      const parsed = parseRows(given, settings);
      const { rows, errors } = parsed;
      const gap = await newestGap();
      return {
        ...checkOf(parsed, settings),
        confirmedBefore: await selectSameRows(database.sql, tenant, hashInput(rows)),
        paidBefore: errors.length > 0 ? [] : await readPaid(tenant, rows),
        lacksSince: gap && gap.until > plusMs(clock.now(), -PAID_WITHIN_MS) ? gap.since : null,
        endsAt: await endOf(tenant, rows),
      };
    },

    async request(tenant, { rows: given, confirmedBefore, paidBefore, idempotencyKey: key, keyId }) {
      const { rows, errors } = parseRows(given, await readSettings(tenant));
      // Only the amount of a row may have become wrong since it was confirmed.
      if (rows.length < given.length) throw refusalOf(errors);
      const rowsHash = hashInput(rows);
      const inADay = await countBatches(database.sql, tenant, plusMs(clock.now(), -DAY_MS));
      // The payouts of any other batch may be made after those that there are were read.
      const before = await selectNewestBatch(database.sql, tenant);
      const ended = before && statusOfBatch(before) !== 'running' ? before.batchId : null;
      const paid = await readPaid(tenant, rows);
      // A repetition after a restore is the same batch, whose rows have the same keys.
      const batchId = `pob_${deterministicId(24, REQUEST, tenantKey(tenant), key, rowsHash)}`;
      return committer.change<{ batch: PayoutBatch; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(newestBatch, NEWEST),
            reader.load(batchOfRows, rowsHash),
            readReplay(reader, REQUEST, key, (made) => reader.load(batches, made)),
          ]),
        decide(state) {
          const made = replayed(state, REQUEST, key, rowsHash);
          if (made !== null) return { outcome: { batch: state.need(batches, made), replayed: true } };
          if (errors.length > 0) throw refusalOf(errors);
          const newest = state.get(newestBatch, NEWEST);
          const running = newest && newest.batchId !== ended ? newest : null;
          const found = state.get(batchOfRows, rowsHash)?.createdAt ?? null;
          const batch = decideBatch(rows, {
            ...{ batchId, keyId, rowsHash, running, inADay, now: state.now },
            confirmedBefore: { shown: confirmedBefore, found },
            paidBefore: { named: paidBefore, found: paid },
          });
          return {
            outcome: { batch, replayed: false },
            writes: {
              records: [
                put(batches, batch),
                put(newestBatch, batch),
                remember({ operation: REQUEST, key, inputHash: rowsHash, resourceId: batchId }),
              ],
              tasks: [nextRowTask(batch, state.now)],
            },
          };
        },
      });
    },

    cancel: (tenant, batchId) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(batches, batchId),
        decide(state) {
          const found = state.get(batches, batchId);
          if (!found) throw new NotFoundError('Batch of payouts not found');
          const batch = decideCancelBatch(found, 'merchant', state.now);
          return { outcome: batch, writes: { records: [put(batches, batch)] } };
        },
      }),

    async resume(tenant, batchId) {
      const gap = await newestGap();
      return committer.change({
        tenant,
        read: (reader) => reader.load(batches, batchId),
        decide(state) {
          const found = state.get(batches, batchId);
          if (!found) throw new NotFoundError('Batch of payouts not found');
          // If the clock was set back, the gap may end later than now.
          const isBefore = gap !== null && gap.until >= state.now;
          const batch = decideResumeBatch(found, isBefore ? plusMs(gap.until, 1) : state.now);
          const tasks = batch === found ? [] : [nextRowTask(batch, state.now)];
          return { outcome: batch, writes: { records: [put(batches, batch)], tasks } };
        },
      });
    },

    async newest(tenant) {
      const batch = await selectNewestBatch(database.sql, tenant);
      if (!batch) return null;
      const waiting = batch.rows.filter(({ outcome }) => outcome === null);
      const endsAt = statusOfBatch(batch) === 'running' ? await endOf(tenant, waiting) : null;
      return { batch, endsAt, ...(await readFailed(tenant, batch)) };
    },
  };
}

const refusalOf = (errors: readonly RowError[]) =>
  new ValidationError(
    errors.slice(0, 10).map(({ row, field, message }) => ({ path: `rows.${String(row)}.${field}`, message })),
  );
