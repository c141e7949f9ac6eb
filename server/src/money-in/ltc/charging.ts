import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { behindChange } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { LitecoinRail, LtcAddress } from '../../rails/litecoin.ts';
import {
  type Committer,
  joined,
  loadRecords,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import { closeOpenPayments, type OrderPayments, readToClose } from '../../state/commit/orders.ts';
import type { ProductContent } from '../../state/commit/product-content.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { keptPaymentOf } from '../checkout/model.ts';
import { type LtcFamily, outputs, recordedOutputs, writesOfLtc } from './collections.ts';
import {
  decideAddress,
  decideAddressAgain,
  decideCancel,
  decideExpire,
  decideLookAgain,
  decideReport,
  type LtcChange,
  type RecordedOutput,
} from './decisions.ts';
import type { LtcReceiver, LtcTask, StoredLtcResource } from './model.ts';

/** Counts the outputs and addresses of the network. */
export interface LtcMeter {
  onLtcAddress(outcome: LtcAddress['status']): void;
  /**
   * Counts a confirmed output: it has paid, is credited in addition to the amount, or waits in
   * `ltc_unmatched`.
   */
  onLtcOutput(outcome: 'credited' | 'unmatched' | 'reorganised'): void;
}

/**
 * Calls the Litecoin network, and handles the due tasks of payments by LTC. The network is called between two commits, never
 * inside one, under the id of the payment, so that a retry after a crash has one effect.
 */
export function createLtcCharging<R extends StoredLtcResource>({
  database,
  committer,
  rail,
  family,
  content,
  methods,
  meter,
  onFault,
}: {
  database: Database;
  committer: Committer;
  rail: LitecoinRail;
  family: LtcFamily<R>;
  content: ProductContent;
  /** The payments of an order that any method pays. */
  methods: readonly OrderPayments[];
  meter: LtcMeter;
  /** Called with the error if the network did not answer. */
  onFault: (fault: unknown) => void;
}): LtcReceiver<R> & {
  /** Gets the address of a payment, and returns the payment afterwards. */
  register(tenant: Tenant, resource: R): Promise<R>;
  /**
   * Cancels a payment, after its outputs so far were recorded. Null if it does not exist. @throws
   * PreconditionError (NOT_CANCELABLE)
   */
  cancel(tenant: Tenant, id: string): Promise<{ resource: R; replayed: boolean } | null>;
  /** Records the outputs of an open payment of any account, if the network answers. */
  refreshHosted(id: string): Promise<void>;
  tasks: Record<LtcTask, TaskHandler>;
} {
  const { records } = family;
  const sharedReports = createCoalescedReads<R | null>();

  async function select(tenant: Tenant, id: string): Promise<R | null> {
    const [found] = await loadRecords(records, database.sql, tenant, [id]);
    return found?.ltc ? found : null;
  }

  /** Applies a decision to a locked payment. Returns the payment afterwards; null if it does not exist. */
  async function advance(
    tenant: Tenant,
    id: string,
    decide: (resource: R, state: State, recorded: readonly RecordedOutput[]) => LtcChange<R> | null,
    readMore?: (reader: Reader, resource: R) => Promise<unknown>,
  ): Promise<{ resource: R | null; change: LtcChange<R> | null; recorded: readonly RecordedOutput[] }> {
    return committer.change<{
      resource: R | null;
      change: LtcChange<R> | null;
      recorded: readonly RecordedOutput[];
    }>({
      tenant,
      async read(reader) {
        const [resource] = await Promise.all([reader.load(records, id), reader.load(outputs, id)]);
        if (resource) await readMore?.(reader, resource);
      },
      decide(state) {
        const resource = state.get(records, id);
        const recorded = recordedOutputs(state, id);
        const change = resource?.ltc ? decide(resource, state, recorded) : null;
        if (!change) return { outcome: { resource: resource?.ltc ? resource : null, change, recorded } };
        const writes = joined(writesOfLtc(family, change, recorded), contentOf(change, state));
        const hasBeenPaid = change.resource.paidAt !== null && change.previous?.paidAt == null;
        const others = hasBeenPaid
          ? closeOpenPayments(methods, state, family.orderOf(change.resource), writes)
          : {};
        return {
          outcome: { resource: change.resource, change, recorded },
          writes: joined(writes, others),
        };
      },
    });
  }

  /** Loads what `keptOf` reads. */
  function readOrder(reader: Reader, resource: R): Promise<unknown> {
    return Promise.all(methods.map((method) => method.read(reader, family.orderOf(resource))));
  }

  /** The payment that the order keeps, by any method; null if there is none. */
  function keptOf(state: State, resource: R): string | null {
    return keptPaymentOf(methods.flatMap((method) => method.paymentsOf(state, family.orderOf(resource))));
  }

  /** Delivers the content of a product in the step that makes its payment paid. */
  function contentOf({ previous, resource }: LtcChange<R>, state: State): Writes {
    const sale = family.saleOf(resource);
    const hasBeenPaid = resource.status === 'paid' && previous?.status !== 'paid';
    return sale && hasBeenPaid ? content.deliver(state, sale, resource.paidAt!) : {};
  }

  async function receive(tenant: Tenant, id: string): Promise<R | null> {
    const found = await select(tenant, id);
    if (!found || found.ltc!.address === null) return found;
    const report = await rail.reportOf(id);
    if (report.revision <= found.ltc!.revision) return found;
    const { resource, change, recorded } = await advance(
      tenant,
      id,
      (current, state, outputsBefore) =>
        decideReport(current, report, {
          recorded: outputsBefore,
          keptPayment: keptOf(state, current),
          now: state.now,
        }),
      async (reader, current) => {
        await readOrder(reader, current);
        await readToClose(methods, reader, family.orderOf(current));
        const sale = family.saleOf(current);
        if (sale) await content.read(reader, sale);
      },
    );
    const before = new Map(recorded.map((output) => [`${output.txid}:${output.vout}`, output.state]));
    for (const { txid, vout, state } of change?.outputs ?? []) {
      const was = before.get(`${txid}:${vout}`) ?? 'seen';
      if (was !== 'unmatched' && (state === 'credited' || state === 'unmatched')) meter.onLtcOutput(state);
      if (was === 'unmatched' && state !== 'unmatched' && state !== 'credited')
        meter.onLtcOutput('reorganised');
    }
    return resource;
  }

  async function requestAddress(tenant: Tenant, resource: R): Promise<R> {
    const { paymentId } = resource;
    const answer = await rail.addressFor({ id: paymentId, tenant });
    return record(tenant, resource, answer);
  }

  async function record(tenant: Tenant, resource: R, answer: LtcAddress): Promise<R> {
    const { resource: current } = await advance(tenant, resource.paymentId, (each, { now }) =>
      answer.status === 'ready' ? decideAddress(each, answer.address) : decideAddressAgain(each, now),
    );
    meter.onLtcAddress(answer.status);
    return current ?? resource;
  }

  return {
    receive,

    async register(tenant, resource) {
      const answer = await rail
        .addressFor({ id: resource.paymentId, tenant })
        .catch((error: unknown): LtcAddress => {
          // The task that requests the address retries.
          onFault(error);
          return { status: 'pending' };
        });
      return record(tenant, resource, answer).catch((error: unknown) => {
        throw behindChange(error);
      });
    },

    async cancel(tenant, id) {
      // A network that does not answer must not prevent a cancellation.
      await receive(tenant, id).catch(onFault);
      let isChanged = false;
      const { resource } = await advance(
        tenant,
        id,
        (current, state) => {
          const change = decideCancel(current, { keptPayment: keptOf(state, current), now: state.now });
          isChanged = change !== null;
          return change;
        },
        readOrder,
      );
      return resource && { resource, replayed: !isChanged };
    },

    async refreshHosted(id) {
      const found = await family.selectHosted(database.sql, id);
      if (!found?.resource.ltc) return;
      const { status } = found.resource;
      if (status !== 'pending' && status !== 'expired') return;
      // Payers who look at the same page share the request.
      await sharedReports(id, () => receive(found.tenant, id)).catch(onFault);
    },

    tasks: {
      async 'ltc.address'(task) {
        const resource = await select(task, task.key);
        if (resource?.status !== 'pending' || resource.ltc!.address !== null) return;
        await requestAddress(task, resource);
      },
      async 'ltc.expire'(task) {
        // LTC that was sent in time but not reported yet is looked up first.
        await receive(task, task.key);
        await advance(
          task,
          task.key,
          (resource, state, recorded) =>
            decideExpire(resource, { recorded, keptPayment: keptOf(state, resource), now: state.now }),
          readOrder,
        );
      },
      async 'ltc.receive'(task) {
        // The key names the payment and, after it, the revision.
        const [id, revision] = task.key.split(' ');
        await receive(task, id!);
        await advance(task, id!, (resource, { now }) =>
          decideLookAgain(resource, { key: task.key, revision: Number(revision) }, now),
        );
      },
    },
  };
}
