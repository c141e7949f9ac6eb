import type { IncomingHttpHeaders } from 'node:http';
import { matchLanguage, preferredOf } from '../http/accept-language.ts';
import { texts as en } from './texts/en.ts';
import { texts as es } from './texts/es.ts';
import { texts as pt } from './texts/pt.ts';
import type { Texts } from './texts/texts.ts';

/** The languages of the pages, those of the widget, each with its own name. The first is that of a payer who asks for none of them. */
export const LANGUAGES = { 'pt-BR': 'Português', en: 'English', es: 'Español' } as const;
export type Language = keyof typeof LANGUAGES;
const CODES = Object.keys(LANGUAGES) as [Language, ...Language[]];

export const TEXTS: Readonly<Record<Language, Texts>> = { 'pt-BR': pt, en, es };

/** The parameter of a page's address that names its language. */
export const LANGUAGE_PARAMETER = 'lang';

/** The language that a page's address names, in any of its variants; null where it names none of ours. */
export function namedLanguage(parameters: URLSearchParams): Language | null {
  return matchLanguage(CODES, parameters.get(LANGUAGE_PARAMETER) ?? '');
}

/** The language that the payer's browser prefers. Portuguese for `*`, and where none of ours is accepted. */
export function preferredLanguage({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Language {
  return preferredOf(CODES, accepted);
}
