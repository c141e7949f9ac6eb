import { importAgain } from '../import-again.ts';
import type { Locale } from '../locale.ts';
import { texts as first } from './locales/pt-BR.ts';
import type { ControlTexts, Texts } from './locales/texts.ts';

const LOCALES: Partial<Record<Locale, () => Promise<{ texts: Texts }>>> = {
  en: () => import('./locales/en.ts'),
  es: () => import('./locales/es.ts'),
};

/** The Portuguese texts, including those of loaded chunks. */
const portuguese = { ...first } as Texts;

interface Formats {
  money: (cents: number) => string;
  number: (value: number) => string;
  day: (at: Date) => string;
  hour: (at: Date) => string;
  /** The time since an instant, in milliseconds, such as “há 2 min.”. */
  ago: (at: number) => string;
}

/** The texts, amounts and times of the table in its language. */
export class PayoutTexts {
  formats!: Formats;

  #locale: Locale | undefined;
  #labels: Partial<Texts> | undefined;
  #loaded: Partial<Record<Locale, Texts>> = { 'pt-BR': portuguese };

  /**
   * Sets a language, and texts that replace its own; `onLoaded` is called once the language's texts are
   * loaded.
   */
  use(locale: Locale, labels: Partial<Texts> | undefined, onLoaded: () => void): void {
    this.#labels = labels;
    if (locale !== this.#locale) this.formats = createFormats(locale);
    this.#locale = locale;
    const load = LOCALES[locale];
    if (load && !this.#loaded[locale])
      importAgain(`payouts.${locale}`, load).then(
        ({ texts }) => {
          this.#loaded[locale] = texts;
          onLoaded();
        },
        // If the texts of its language do not load, the element shows Portuguese.
        () => undefined,
      );
  }

  /** The language of the shown texts, which is Portuguese until those of its own are loaded. */
  get language(): Locale {
    return this.#loaded[this.#locale!] ? this.#locale! : 'pt-BR';
  }

  /** The objects with the texts; an object is replaced when one of its texts changes. */
  get sources(): readonly unknown[] {
    return [this.#loaded[this.#locale!], this.#labels];
  }

  addPortuguese(texts: ControlTexts): void {
    Object.assign(portuguese, texts);
  }

  text(name: keyof Texts, values: Record<string, string | number> = {}): string {
    const text = this.#labels?.[name] ?? (this.#loaded[this.#locale!] ?? portuguese)[name];
    return text.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
  }

  count(name: 'new' | 'count', count: number): string {
    const values = { count: this.formats.number(count), total: this.formats.number(count) };
    if (name === 'new') return this.text(count === 1 ? 'newOne' : 'newMany', values);
    return this.text(count === 1 ? 'countOne' : 'count', values);
  }
}

function createFormats(locale: Locale): Formats {
  // The neighbors who use reais write them as Brazilians do, `R$ 49,90`; Spanish alone has `49,90 BRL`.
  const money = new Intl.NumberFormat(locale === 'es' ? 'pt' : locale, {
    style: 'currency',
    currency: 'BRL',
  });
  const { format: number } = new Intl.NumberFormat(locale);
  // The zone is in the header of the column.
  const timeZone = 'America/Sao_Paulo';
  const { format: day } = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  const { format: hour } = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone });
  const relative = new Intl.RelativeTimeFormat(locale, { style: 'short' });
  const ago = (at: number) => {
    const minutes = Math.max(1, Math.round((Date.now() - at) / 60_000));
    return minutes < 100
      ? relative.format(-minutes, 'minute')
      : relative.format(-Math.round(minutes / 60), 'hour');
  };
  return { money: (cents) => money.format(cents / 100), number, day, hour, ago };
}
