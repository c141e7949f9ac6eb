import { html, type PropertyValues, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { line } from '../board/messages.ts';
import { Figures } from './figures.ts';
import { ListElement } from './list-element.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import { pageOf, type Row } from './row-list.ts';
import type { Totals } from './totals.ts';

/** A list with the totals of its filter above the table. */
export abstract class TotalsElement<
  R extends Row,
  T extends ListTexts,
  Status extends string,
> extends ListElement<R, T> {
  protected override readonly figures = new Figures<Totals<Status>>(
    () => this.#readTotals(),
    () => this.requestUpdate(),
  );
  readonly #kind: ListKind<R, T>;

  constructor(kind: ListKind<R, T>, texts: BoardTexts<T>) {
    super(kind, texts);
    this.#kind = kind;
  }

  /** The totals of the filter by status, as the server adds them up; undefined until it has. */
  get totals(): Totals<Status> | undefined {
    return this.figures.isOld ? undefined : this.figures.value;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    if (this.phase === 'ready') this.figures.follow(JSON.stringify(this.#filter ?? {}));
    // The totals of an account whose rows are gone do not stay.
    else if (this.isEmpty) this.figures.follow('');
  }

  protected override renderSummary(): TemplateResult | '' {
    const { isExact, groups = [] } = this.figures.value ?? {};
    const { formats } = this.texts;
    const shown = this.#kind.values.flatMap((status) => groups.filter((group) => group.status === status));
    if (!shown[0]) return '';
    return html`<dl part="summary" class="summary ${this.figures.isOld ? 'stale' : ''}">${shown.map(
      ({ status, count, amountCents }) => {
        const amount = formats.money(amountCents);
        return html`<div>
        <dt>${line(`${this.texts.text(status as keyof T)} (${formats.number(count)})`)}</dt>
        <dd>${line(isExact ? amount : this.texts.text('atLeast', { amount }))}</dd>
      </div>`;
      },
    )}</dl>`;
  }

  get #filter(): object | null | undefined {
    return pageOf(this.view, 0, this.#kind).filter;
  }

  async #readTotals(): Promise<Totals<Status>> {
    const { document, of } = this.#kind.totals!;
    const answer = await this.data.request<object>(
      document,
      { filter: this.#filter },
      this.data.connectedSignal,
    );
    return of(answer) as Totals<Status>;
  }
}
