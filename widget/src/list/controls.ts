import { html, nothing, type PropertyDeclaration, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { connectionState } from '../board/messages.ts';
import type { ListController } from './list-controller.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import type { MoreFilters } from './more-filters.ts';
import { columnOf, type Row, type Sort, type View } from './row-list.ts';

const UP = 'M6 2.5 2.5 6.5h7zM6 2.5v7.5';
const DOWN = 'M6 9.5 9.5 5.5h-7z';
const UNSORTED = 'M6 1.5 3.5 4.5h5zM6 10.5 8.5 7.5h-5z';

/** Reads filter and order from the element's properties. Unknown values of the buttons are left out; a removed attribute is null. */
export function readView<R extends Row, T extends ListTexts>(
  host: object,
  { property, values, conditions, checks, sorts, memberOf }: ListKind<R, T>,
): View {
  const given = host as Record<string, string>;
  const wordsOf = (name: string) => `${given[name] ?? ''}`.match(/\w+/g);
  // An empty attribute is no condition.
  const filter = conditions.flatMap((name) => {
    const isList = name === checks?.property;
    const value = isList ? wordsOf(name) : given[name];
    if (!value) return [];
    const member = memberOf?.(name, `${given[name]}`);
    return Object.entries<unknown>(member ?? { [isList ? name.slice(0, -1) : name]: value });
  });
  const chosen: readonly string[] = wordsOf(property) ?? [];
  return {
    chosen: values.filter((value) => chosen.includes(value)),
    sort: sorts.includes(given.sort!) ? given.sort! : sorts[0]!,
    filter: filter[0] && Object.fromEntries(filter),
  };
}

/** The properties of a list's conditions. An attribute has the words of its property: `amount-cents`. */
export function propertiesOf({
  property,
  conditions,
}: Pick<ListKind<never, never>, 'property' | 'conditions'>): PropertyDeclarations {
  const declare = (name: string): [string, PropertyDeclaration] => [
    name,
    {
      attribute: name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      ...(name.endsWith('Cents') && { type: Number }),
    },
  ];
  return Object.fromEntries([property, ...conditions].map(declare));
}

/** Renders the buttons of the filter, and that of the export beside them. */
export function filters<T extends ListTexts>(
  texts: BoardTexts<T>,
  { values, rare }: Pick<ListKind<never, T>, 'values' | 'rare'>,
  chosen: readonly string[],
  onChoose: (chosen: readonly string[]) => void,
  more: MoreFilters,
  renderExport: () => TemplateResult | '',
): TemplateResult {
  const button = (name: string, pressed: boolean, next: readonly string[]) => html`
    <button
      part="filter"
      class="filter"
      aria-pressed=${pressed ? 'true' : 'false'}
      @click=${() => onChoose(next)}
      .textContent=${texts.text(name as 'all')}
    ></button>
  `;
  const shown = values.filter((value) => !rare.includes(value) || chosen.includes(value));
  return html`
    <div class="filters"><div class="group" role="group" aria-label=${texts.text('filter')}>
      ${shown[0] ? button('all', chosen.length === 0, []) : ''}
      ${shown.map((value) =>
        chosen.includes(value)
          ? button(
              value,
              true,
              chosen.filter((other) => other !== value),
            )
          : button(value, false, [...chosen, value]),
      )}
      ${more.renderButton()}
    </div>${renderExport()}</div>
  `;
}

/** Renders the number of waiting new rows, and the state of the connection. */
export function news<R extends Row, T extends ListTexts>(
  texts: BoardTexts<T>,
  data: ListController<R, T>,
  onShow: () => void,
): TemplateResult {
  const { waiting } = data.list;
  return html`
    <div class="news">
      <button part="new-button" class="new" ?disabled=${waiting === 0} @click=${onShow}
        .textContent=${/* Reserves room for two digits. */ texts.count('newOne', 'newMany', waiting || 10)}></button>
      ${connectionState(texts, data)}
    </div>
  `;
}

/** Renders the names of the columns; those that can be sorted by are buttons. */
export function columns<R extends Row, T extends ListTexts>(
  texts: BoardTexts<T>,
  kind: ListKind<R, T>,
  sort: Sort,
  onChoose: (sort: Sort) => void,
): TemplateResult[] {
  return kind.columns.map((column) => {
    const own = kind.sorts.filter((each) => columnOf(each) === column);
    const current = own.indexOf(sort);
    const isDescending = sort.startsWith('-');
    return html`
      <th
        role="columnheader"
        class=${column}
        aria-sort=${current < 0 ? nothing : isDescending ? 'descending' : 'ascending'}
      >${
        own.length > 0
          ? html`<button part="sort-button" class="sort" @click=${() => onChoose(own[current === 0 ? 1 : 0]!)}>
              <span .textContent=${texts.text(column as keyof T)}></span><svg viewBox="0 0 12 12" aria-hidden="true"><path d=${current < 0 ? UNSORTED : isDescending ? DOWN : UP} /></svg>
            </button>`
          : html`<span .textContent=${texts.text(column as keyof T)}></span>`
      }</th>
    `;
  });
}
