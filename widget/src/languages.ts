import type { Locale } from './locale.ts';
import type { DeliveredTexts, PixTexts, Texts } from './locales/texts.ts';

/** The texts of a language. The texts of a payment by PIX replace others with the same name. */
export interface Language {
  texts: Texts;
  pix: PixTexts;
  delivered: DeliveredTexts;
}

/** The loaders of the other languages. The first texts of pt-BR are in the entry, so that some text is always there. */
export const LOCALES: Partial<Record<Locale, () => Promise<Language>>> = {
  en: () => import('./locales/en.ts'),
  es: () => import('./locales/es.ts'),
};
