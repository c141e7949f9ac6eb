import type { Clock } from '../kernel/clock.ts';
import { isTracing, withSpan } from '../kernel/traces.ts';
import type { DatabaseMeter } from './database.ts';

/** Sends a statement, and tells how long it took and what it was: its kind and its table, never its values. */
export type SendStatement = <Result>(text: string, send: () => Promise<Result>) => Promise<Result>;

export function createStatementWatch(clock: Clock, meter: DatabaseMeter | undefined): SendStatement {
  return (text, send) => {
    if (!isTracing() && !meter) return send();
    const { kind, table } = summaryOf(text);
    const timed = meter ? () => timedBy(clock, send, (ms) => meter.onStatement(kind, ms)) : send;
    if (!isTracing()) return timed();
    return withSpan(
      table ? `${kind} ${table}` : kind,
      {
        'db.system.name': 'postgresql',
        'db.operation.name': kind,
        ...(table && { 'db.collection.name': table }),
      },
      timed,
      'client',
    );
  };
}

/** However it ends. */
export async function timedBy<Result>(
  clock: Clock,
  work: () => Promise<Result>,
  tell: (ms: number) => void,
): Promise<Result> {
  const begunAt = clock.ms();
  try {
    return await work();
  } finally {
    tell(clock.ms() - begunAt);
  }
}

const KIND = /^(?:[\s(]|\/\*.*?\*\/)*([a-z]+)/i;
const TABLE = /\b(?:from|into|update)\s+(?:only\s+)?"?([a-z_]+)"?/i;

/** The first word of a statement, and the first table that it names, if any. */
function summaryOf(text: string): { kind: string; table: string | null } {
  const [, kind = 'other'] = KIND.exec(text) ?? [];
  const table = TABLE.exec(text)?.[1]?.toLowerCase() ?? null;
  return { kind: kind.toLowerCase(), table };
}
