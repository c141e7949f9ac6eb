import type { IncomingHttpHeaders } from 'node:http';
import { LANGUAGE_PARAMETER, LANGUAGES, type Language } from '../../kernel/language.ts';
import { matchLanguage, preferredOf } from '../http/accept-language.ts';
import { texts as en } from './texts/en.ts';
import { texts as es } from './texts/es.ts';
import { texts as pt } from './texts/pt.ts';
import type { Texts } from './texts/texts.ts';

/** The languages of the pages, those of the widget, each with its own name. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  'pt-BR': 'Português',
  en: 'English',
  es: 'Español',
};

export const TEXTS: Readonly<Record<Language, Texts>> = { 'pt-BR': pt, en, es };

/**
 * The language that a page's address names, in any of its variants; null if it names none of ours. The address takes
 * precedence over the browser's language: a payer who has chosen a language in the shop keeps it.
 */
export function namedLanguage(parameters: URLSearchParams): Language | null {
  return matchLanguage(LANGUAGES, parameters.get(LANGUAGE_PARAMETER) ?? '');
}

/** The language that the payer's browser prefers. Portuguese for `*`, and if none of ours is accepted. */
export function preferredLanguage({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Language {
  return preferredOf(LANGUAGES, accepted);
}
