import { type DashboardApi, NOT_OFFERED, RefusedError } from './api.ts';
import type { StartData } from './operations.ts';

/** A part of the page that is read by itself, by the root field that it is read from. */
export type Part =
  | Exclude<keyof StartData, 'updatesCursor'>
  | 'payments'
  | 'charges'
  | 'disputes'
  | 'refunds'
  | 'subscriptions'
  | 'deliveries'
  | 'storeProducts';

/**
 * Reads a part alone: null where the service behind this server does not offer it, undefined where it cannot be read and
 * joins those that are `missing`.
 */
export async function readOffered<Value>(
  api: DashboardApi,
  missing: Set<Part>,
  { part, query, variables }: { part: Part; query: string; variables?: Record<string, unknown> },
): Promise<Value | null | undefined> {
  try {
    const { [part]: value } = await api.request<Record<Part, Value>>(query, variables);
    missing.delete(part);
    return value;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const isOffered = error.code !== NOT_OFFERED;
    if (isOffered) missing.add(part);
    else missing.delete(part);
    return isOffered ? undefined : null;
  }
}
