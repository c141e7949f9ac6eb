import type { ReactiveControllerHost } from 'lit';

/** Focuses an element where the focused one has left the page: the keyboard would begin again at its top. */
export function keepFocus(element: HTMLElement | null | undefined): void {
  if (!element || document.activeElement !== document.body) return;
  // Of what cannot be focused, such as a heading.
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus();
}

/**
 * Keeps the focus near its place where an update of `host` removes what has it, such as a row or its button: at the summary
 * around it, or in its card at the words for what was done or the heading, or else at the page.
 */
export function keepFocusIn(host: ReactiveControllerHost & HTMLElement): void {
  let places: readonly (HTMLElement | null)[] = [];
  host.addController({
    hostUpdate() {
      const focused = document.activeElement;
      places = focused && host.contains(focused) ? placesOf(focused) : [];
    },
    hostUpdated() {
      const place = places.find((each) => each?.isConnected);
      keepFocus(place && (targetIn(place) ?? place));
    },
  });
}

/** The element of a place that takes the focus; null for the place itself. */
function targetIn(place: HTMLElement): HTMLElement | null {
  if (place.localName === 'main') return null;
  if (place.localName === 'details') return place.querySelector('summary');
  return place.querySelector<HTMLElement>('.done:not(:empty)') ?? place.querySelector('h2');
}

/** The places around an element, the nearest first. */
const placesOf = (element: Element): (HTMLElement | null)[] =>
  ['details', '.card', 'main'].map((selector) => element.closest<HTMLElement>(selector));
