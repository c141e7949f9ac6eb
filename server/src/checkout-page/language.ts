import type { IncomingHttpHeaders } from 'node:http';
import { texts as en } from './texts/en.ts';
import { texts as es } from './texts/es.ts';
import { texts as pt } from './texts/pt.ts';
import type { Texts } from './texts/texts.ts';

/** The languages of the pages, those of the widget, each with its own name. The first is that of a payer who asks for none of them. */
export const LANGUAGES = { 'pt-BR': 'Português', en: 'English', es: 'Español' } as const;
export type Language = keyof typeof LANGUAGES;
const CODES = Object.keys(LANGUAGES) as Language[];

export const TEXTS: Readonly<Record<Language, Texts>> = { 'pt-BR': pt, en, es };

/** The parameter of a page's address that names its language. */
export const LANGUAGE_PARAMETER = 'lang';

/** The language that a page's address names, in any of its variants; null where it names none of ours. */
export function namedLanguage(parameters: URLSearchParams): Language | null {
  return languageOfTag(parameters.get(LANGUAGE_PARAMETER) ?? '');
}

/** The language that the payer's browser prefers. Portuguese for `*`, and where none of ours is accepted. */
export function preferredLanguage({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Language {
  let [preferred, highest]: [Language, number] = ['pt-BR', 0];
  for (const range of accepted.split(',', MAX_RANGES)) {
    const [tag = '', ...parameters] = range.split(';');
    const language = tag.trim() === '*' ? 'pt-BR' : languageOfTag(tag.trim());
    const quality = qualityOf(parameters);
    if (language !== null && quality > highest) [preferred, highest] = [language, quality];
  }
  return preferred;
}

/** More ranges than any browser sends. */
const MAX_RANGES = 40;

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, quality] = /^\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*$/i.exec(parameter) ?? [];
    if (quality !== undefined) return Number(quality);
  }
  return 1;
}

function languageOfTag(tag: string): Language | null {
  const primary = tag.split('-', 1)[0]!.toLowerCase();
  return CODES.find((code) => code.split('-', 1)[0] === primary) ?? null;
}
