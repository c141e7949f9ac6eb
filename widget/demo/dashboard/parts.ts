import { type DashboardApi, NOT_OFFERED, RefusedError } from './api.ts';
import type { Page, StartData } from './operations.ts';

/** A part of the page that is read by itself, by the root field that it is read from. */
export type Part =
  | Exclude<keyof StartData, 'updatesCursor'>
  | 'payments'
  | 'charges'
  | 'disputes'
  | 'refunds'
  | 'subscriptions'
  | 'deliveries'
  | 'webhookDeliveries'
  | 'storeProducts';

/**
 * Reads a part alone: null if the service behind this server does not offer it, undefined if it cannot be read and
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

/**
 * Reads a page of a part alone: null if the service does not offer it, undefined if it could not be read. With a filter it
 * rejects in both cases: what a filter selects is no part of the page that could be missing.
 */
export type ReadPart = <Item>(
  part: Part,
  query: string,
  variables: { after: string | null; [filter: string]: string | string[] | null },
) => Promise<Page<Item> | null | undefined>;

/** Creates the reader of parts that have pages. */
export function partReader(currentApi: () => DashboardApi | null, missing: Set<Part>): ReadPart {
  return async <Item>(part: Part, query: string, variables: Record<string, unknown>) => {
    const api = currentApi();
    if (!api) throw new Error('closed');
    if (Object.keys(variables).length === 1) return readOffered(api, missing, { part, query, variables });
    return (await api.request<Record<string, Page<Item>>>(query, variables))[part];
  };
}
