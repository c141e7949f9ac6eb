// The filter and the order of a list in the address of its page, so that the address can be shared.
import type { LitElement } from 'lit';

/** The link between an element and the address. */
export interface SharedFilter {
  /** Sets the properties of an element from the address, before it reads its list. */
  attach: (element: Element | undefined) => void;
  /** Writes the properties into the address, except for the search, once the element has changed them. */
  share: (element: LitElement) => Promise<void>;
  /** The listener of the events that report such a change. */
  onChange: (event: Event) => void;
}

/** Links the properties of an element, by their names, with the parameters of the address, which omit what has its first value. */
export function createSharedFilter(names: readonly string[]): SharedFilter {
  const defaults = new WeakMap<Element, ReadonlyMap<string, unknown>>();

  async function share(element: LitElement): Promise<void> {
    await element.updateComplete;
    const url = new URL(location.href);
    for (const name of names) {
      const value: unknown = Reflect.get(element, name);
      // A search may name a customer, and an address is kept in histories and logs: a link may have one, and none is written.
      if (value && name !== 'search' && value !== defaults.get(element)?.get(name))
        url.searchParams.set(name, String(value));
      else url.searchParams.delete(name);
    }
    history.replaceState(null, '', url);
  }

  return {
    attach(element) {
      if (!element) return;
      defaults.set(element, new Map(names.map((name) => [name, Reflect.get(element, name)])));
      const { searchParams } = new URL(location.href);
      for (const name of names) {
        const text = searchParams.get(name);
        if (text !== null) Reflect.set(element, name, name === 'amountCents' ? Number(text) : text);
      }
    },
    share,
    onChange: ({ currentTarget }) => void share(currentTarget as LitElement),
  };
}
