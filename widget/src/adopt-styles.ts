import type { LitElement } from 'lit';

/** Adds the styles of a chunk to those of an element. */
export function adoptStyles({ renderRoot }: Pick<LitElement, 'renderRoot'>, text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  (renderRoot as ShadowRoot).adoptedStyleSheets.push(sheet);
}
