export type Locale = 'pt-BR' | 'en' | 'es';

/** The language that an element is shown in: its own, the page's, or the browser's. */
export function resolveLocale(element: HTMLElement, locale: string | undefined): Locale {
  const nearest = element.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang;
  const language = (locale || nearest || navigator.language).toLowerCase();
  return (/^e[ns]/.exec(language)?.[0] ?? 'pt-BR') as Locale;
}
