import { html, type LitElement, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import type { ListTexts } from './locales/texts.ts';

/** The field beside the buttons of a filter, which sets one condition. */
export interface SearchField<T> {
  /** The property with the condition. */
  property: string;
  /** Renders the field; `onSearch` is called once it has set the property. */
  render(host: LitElement, texts: BoardTexts<T>, onSearch: () => void): TemplateResult;
}

/** Creates the field of a property, which `label` names. */
export function createSearchField<T extends ListTexts>(
  property: string,
  label: keyof T & string,
): SearchField<T> {
  return {
    property,
    render(host, texts, onSearch) {
      const given = host as LitElement & Record<string, unknown>;
      const value = given[property] ?? '';
      const words = texts.text(label);
      const search = async (next: string) => {
        if (next === value) return;
        Object.assign(host, { [property]: next || undefined });
        await host.updateComplete;
        onSearch();
      };
      return html`<input part="search" class="search" type="search" enterkeyhint="search" autocomplete="off" maxlength="254"
        aria-label=${words} placeholder=${words} .value=${value}
        @input=${({ target }: Event) => (target as HTMLInputElement).value || void search('')}
        @change=${({ target }: Event) => {
          // A text that is copied from a message may have signs that nobody sees.
          void search((target as HTMLInputElement).value.replace(/[\p{Cc}\p{Cf}]/gu, '').trim());
        }} />`;
    },
  };
}
