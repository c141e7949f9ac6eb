/** HTML that is safe to send. Only `html` makes it, so text from outside can never pass for it. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

/**
 * Builds HTML from a template whose every value is escaped, in content and in quoted attributes alike; null and false
 * render as nothing.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((markup, text, index) => markup + markupOf(parts[index - 1]) + text));
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function markupOf(part: Part): string {
  if (part instanceof Html) return part.markup;
  if (Array.isArray(part)) return part.map(markupOf).join('');
  if (part === null || part === undefined || part === false) return '';
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
