import { z } from 'zod';

/** The languages of the payers' pages, as BCP 47 tags. A payer whose browser accepts none of them gets the first. */
export const LANGUAGES = ['pt-BR', 'en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A language as an input names it. */
export const languageTag = z.enum(LANGUAGES, `must be one of ${LANGUAGES.join(', ')}`);

/** The language that was stored; null if there is none, or only a newer version knows it. */
export function knownLanguage(stored: string | null | undefined): Language | null {
  return LANGUAGES.find((language) => language === stored) ?? null;
}

/** The parameter of a page's address that names its language. */
export const LANGUAGE_PARAMETER = 'lang';

/** Names a language in the address of a page. An address that names a language already stays as it is. */
export function inLanguage(url: string, language: Language): string {
  const address = url.replace(/#.*/s, '');
  if (new RegExp(`[?&]${LANGUAGE_PARAMETER}=`).test(address)) return url;
  // Appended as text: URLSearchParams would encode the address's own parameters again.
  const separator = address.includes('?') ? '&' : '?';
  return `${address}${separator}${LANGUAGE_PARAMETER}=${language}${url.slice(address.length)}`;
}
