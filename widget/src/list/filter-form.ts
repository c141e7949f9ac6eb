import type { html as Html, LitElement, TemplateResult } from 'lit';
import type { BoardPhase } from '../board/board-host.ts';
import type { BoardTexts } from '../board/board-texts.ts';
import type { CheckoutError } from '../checkout-state.ts';
import type { ListTexts } from './locales/texts.ts';
import type { View } from './row-list.ts';

/** The controls of one element. */
export interface FilterForm {
  render(): TemplateResult;
}

/** The check boxes of the controls. */
export interface Checks<T extends ListTexts> {
  /** The property with the checked values. */
  property: string;
  legend: keyof T & string;
  options(texts: BoardTexts<T>): (readonly [value: string, label: string])[];
}

/** The controls get Lit and the parts of the element from its first file, which their chunk must not import. */
export interface FilterParts<T extends ListTexts> {
  html: typeof Html;
  /** The element, whose properties the controls set. */
  host: LitElement & { readonly view: View };
  data: {
    readonly busy: string;
    readonly phase: BoardPhase;
    readonly error: CheckoutError | undefined;
    readonly list: { readonly total: number };
    emitFilter(): void;
  };
  texts: BoardTexts<T>;
  checks?: Checks<T> | undefined;
}
