import {
  type Column,
  type Export,
  exportOf,
  figure,
  instant,
  readingOf,
  text,
} from '../../api/http/exports/export.ts';
import { readFilterQuery } from '../../api/http/list-query.ts';
import { LONG_EXTERNAL_ID } from '../../kernel/list-filter.ts';
import type { Subaccount, SubaccountFilter, SubaccountService } from './model.ts';
import { FILTER } from './routes.ts';

const COLUMNS: readonly Column<Subaccount>[] = [
  text('subaccountId', ({ id }) => id),
  text('name', ({ name }) => name),
  text('externalId', ({ externalId }) => externalId),
  instant('createdAt', ({ createdAt }) => createdAt),
  figure('balance', ({ balanceCents }) => balanceCents),
];

/** Subaccounts as a file, each with its balance of the moment at which its row was read. */
export function createSubaccountExport({
  subaccounts,
}: {
  subaccounts: Pick<SubaccountService, 'list'>;
}): Export {
  return exportOf({
    name: 'subaccounts',
    rights: ['subaccounts.read'],
    query: FILTER,
    columns: COLUMNS,
    open: readingOf(
      subaccounts.list,
      ({ item }) => item,
      (members) => readFilterQuery<SubaccountFilter>(members, LONG_EXTERNAL_ID),
    ),
  });
}
