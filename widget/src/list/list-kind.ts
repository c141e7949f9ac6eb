import type { TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import type { Topic } from '../board/updates.ts';
import type { DetailsPanel, DetailsParts } from './details.ts';
import type { ExportOptions } from './export.ts';
import type { Checks, FilterForm, FilterParts } from './filter-form.ts';
import type { ListTexts } from './locales/texts.ts';
import type { Page, Row, RowKind, Sort } from './row-list.ts';
import type { SearchField } from './search-field.ts';
import type { Totals } from './totals.ts';

/** The part in which the elements that show a list differ: a new one is a record of this, its texts and its cells. */
export interface ListKind<R extends Row, T extends ListTexts> extends RowKind<R> {
  /** The name of a row in the names of the events and in their details. */
  name: string;
  /** The text that names the table; the name of the element in those of its chunks is the same. */
  title: keyof T & string;
  /** The documents: `updatesCursor` with the first page; a page; the newest rows, with those in `ids` as `nodes`; a whole row by `$id` as `node`. */
  documents: { start: string; page: string; poll: string; details?: string };
  /** The document of the totals of a filter, by the values of `group`, and the totals in its answer. */
  totals?: { document: string; of(answer: object): Totals };
  /** The list in the answer to each of them. The first one may have `updateKinds`, too: the kinds that the token may follow. */
  listOf(answer: object): Page<R>;
  topic: Topic;
  /**
   * The row in an update, and its group before; null if the update is of another kind, undefined if it has no row and says that
   * there are new ones. With `isOfRow` the update is of something else of the row: a row that is not loaded stays so.
   */
  rowOf(
    update: object,
  ): { row: R | null; previous?: string | null | undefined; isOfRow?: boolean } | undefined;
  columns: readonly string[];
  cells(row: R, texts: BoardTexts<T>): TemplateResult;
  /** The values for the announcement of a row. */
  spoken(row: R, texts: BoardTexts<T>): Record<string, string>;
  /** The orders, the first of each column as its button chooses it first. */
  sorts: readonly Sort[];
  /** The property with the values of `group` that are chosen, the values, and those without a button until they are chosen. */
  property: string;
  values: readonly string[];
  rare: readonly string[];
  /** The properties of the other conditions, as the server's filter has them. That of the check boxes is in the plural: `methods` is its `method`. */
  conditions: readonly string[];
  checks?: Checks<T>;
  /** The field beside the buttons, if the list has one. */
  search?: SearchField<T>;
  /** Converts a condition that the server's filter has under another name. */
  memberOf?(condition: string, value: string): Record<string, unknown> | undefined;
  /** The name of the server's export, if the list has one. */
  file?: string;
  /** Loads the chunk of the controls and the export. */
  loadControls(): Promise<{
    createForm(parts: FilterParts<T>): FilterForm;
    exportRows?(options: ExportOptions): Promise<void>;
  }>;
  /** Loads the chunk of the details of a row, if the list has them. */
  loadDetails?(): Promise<{ createDetails(parts: DetailsParts<R, T>): DetailsPanel }>;
}
