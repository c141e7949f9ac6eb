import type { Clock } from '../../kernel/clock.ts';
import { isTracing, withSpan } from '../../kernel/traces.ts';
import type { DatabaseMeter } from './database.ts';

/** Sends a statement and reports its duration, its kind and its table, never its values. */
export type ObserveStatement = <Result>(text: string, send: () => Promise<Result>) => Promise<Result>;

export function createStatementObserver(clock: Clock, meter: DatabaseMeter | undefined): ObserveStatement {
  return (text, send) => {
    if (!isTracing() && !meter) return send();
    const { kind, table } = summaryOf(text);
    const timed = meter ? () => measure(clock, send, (ms) => meter.onStatement(kind, ms)) : send;
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

/** Reports how long work takes, however it ends. */
export async function measure<Result>(
  clock: Clock,
  work: () => Promise<Result>,
  report: (ms: number) => void,
): Promise<Result> {
  const startedAt = clock.ms();
  try {
    return await work();
  } finally {
    report(clock.ms() - startedAt);
  }
}

const KIND = /^(?:[\s(]|\/\*.*?\*\/)*([a-z]+)/i;
const TABLE = /\b(?:from|into|update)\s+(?:only\s+)?"?(?!unnest\b)([a-z_]+)"?/i;

/** The first word of a statement, and the first table that it names, if any. A list of values is no table. */
function summaryOf(text: string): { kind: string; table: string | null } {
  const [, kind = 'other'] = KIND.exec(text) ?? [];
  const table = TABLE.exec(text)?.[1]?.toLowerCase() ?? null;
  return { kind: kind.toLowerCase(), table };
}
