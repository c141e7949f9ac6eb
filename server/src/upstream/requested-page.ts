import { readCents, readRecord } from '../kernel/lenient-json.ts';

/**
 * Cuts a page down to the `limit` and `offset` of its path. A service that ignores them sends its whole list:
 * thousands of rows, which would all be merged, cached and shown.
 */
export function requestedPage(path: string, body: unknown): unknown {
  if (!path.includes('?')) return body;
  const query = new URLSearchParams(path.split('?')[1]);
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
  const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > limit;
  if (!query.has('limit') || typeof body !== 'object' || body === null) return body;
  if (isLong(body)) return { data: body.slice(offset, offset + limit), total: body.length };
  const record = readRecord(body) ?? {};
  if (!Object.values(record).some(isLong)) return body;
  const total = readCents(record.total);
  // If the service has skipped as many items as requested, the list lacks that many.
  const startOf = (list: unknown[]) => (total !== null && list.length === total - offset ? 0 : offset);
  const cut = Object.entries(record).map(([name, value]) =>
    isLong(value) ? [name, value.slice(startOf(value), startOf(value) + limit)] : [name, value],
  );
  const longest = Math.max(
    ...Object.values(record)
      .filter(isLong)
      .map(({ length }) => length),
  );
  return { ...Object.fromEntries(cut), total: total ?? longest };
}
