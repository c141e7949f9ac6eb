import { type Clock, plusMs } from '../../server/src/kernel/clock.ts';
import type { LitecoinRail, LtcOutput, LtcReport } from '../../server/src/rails/litecoin.ts';
import type { Random } from '../faults/random.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A Litecoin network with a chain of its own. */
export interface LtcNetwork extends LitecoinRail {
  /** The outputs of each id, which the service must have recorded in the end. */
  readonly reports: ReadonlyMap<string, LtcReport>;
  /** Adds an unconfirmed output without notifying the service. Returns the revision. */
  send(id: string, litoshi: number): number;
  /**
   * Mines blocks over all outputs of an id, also those that a reorganisation has removed. Returns the revision, or
   * null without outputs.
   */
  mine(id: string, blocks: number): number | null;
  /** Removes the last output from the chain. Returns the revision, or null without outputs. */
  reorganise(id: string): number | null;
}

/**
 * `over` calls the network over a faulty connection. `name` distinguishes these addresses and outputs from all
 * others.
 */
export function createLtcNetwork({
  name,
  clock,
  over,
  random,
}: {
  name: string;
  clock: Clock;
  over: <Answer>(rail: string, call: () => Answer) => Promise<Answer>;
  random: Random;
}): LtcNetwork {
  const readyAt = new Map<string, Date>();
  const reports = new Map<string, LtcReport>();
  const taken = new Map<string, LtcOutput[]>();
  let sent = 0;
  const reportOf = (id: string): LtcReport => reports.get(id) ?? { revision: 0, outputs: [] };

  function change(id: string, outputs: LtcOutput[]): number {
    const revision = reportOf(id).revision + 1;
    reports.set(id, { revision, outputs });
    return revision;
  }

  function addressFor(id: string) {
    if (!readyAt.has(id))
      readyAt.set(id, plusMs(clock.now(), random.pick([0, 0, 0, 15 * SECOND, 40 * MINUTE])));
    return readyAt.get(id)! > clock.now()
      ? { status: 'pending' as const }
      : { status: 'ready' as const, address: `rltc ${name} ${id}` };
  }

  return {
    reports,
    addressFor: ({ id }) => over('LTC network', () => addressFor(id)),
    reportOf: (id) => over('LTC network', () => structuredClone(reportOf(id))),
    send(id, litoshi) {
      sent += 1;
      const nth = String(sent).padStart(8, '0');
      const txid = (nth + Buffer.from(name).toString('hex')).padEnd(64, '0').slice(0, 64);
      const output = { txid, vout: 0, litoshi, seenAt: clock.now(), confirmations: 0 };
      return change(id, [...reportOf(id).outputs, output]);
    },
    mine(id, blocks) {
      const outputs = [...reportOf(id).outputs, ...(taken.get(id) ?? [])];
      if (outputs.length === 0) return null;
      taken.delete(id);
      return change(
        id,
        outputs.map((output) => ({ ...output, confirmations: output.confirmations + blocks })),
      );
    },
    reorganise(id) {
      const { outputs } = reportOf(id);
      const last = outputs.at(-1);
      if (!last) return null;
      taken.set(id, [...(taken.get(id) ?? []), { ...last, confirmations: 0 }]);
      return change(id, outputs.slice(0, -1));
    },
  };
}
