import type { CheckoutError } from '../checkout-state.ts';
import { importAgain } from '../import-again.ts';
import type { Locale } from '../locale.ts';
import type { SharedTexts } from './locales/texts.ts';

interface Formats {
  money: (cents: number) => string;
  /** An amount of LTC, with up to eight decimals. */
  ltc: (amount: string) => string;
  number: (value: number) => string;
  day: (at: Date) => string;
  hour: (at: Date) => string;
  /** The time since an instant, in milliseconds, such as “há 2 min.”. */
  ago: (at: number) => string;
}

/** The texts of an element: the Portuguese ones of its first file, and where the others are. */
export interface Catalog<T> {
  /** The name of the element in the names of the chunks with its languages. */
  name: string;
  portuguese: Partial<T>;
  languages: Partial<Record<Locale, () => Promise<{ texts: T }>>>;
}

/** The texts, amounts and times of an element in its language. */
export class BoardTexts<T> {
  formats!: Formats;

  readonly #catalog: Catalog<T>;
  #locale: Locale | undefined;
  #labels: Partial<T> | undefined;
  #loaded: Partial<Record<Locale, T>>;

  constructor(catalog: Catalog<T>) {
    this.#catalog = catalog;
    this.#loaded = { 'pt-BR': catalog.portuguese as T };
  }

  /**
   * Sets a language, and texts that replace its own; `onLoaded` is called once the language's texts are
   * loaded.
   */
  use(locale: Locale, labels: Partial<T> | undefined, onLoaded: () => void): void {
    this.#labels = labels;
    if (locale !== this.#locale) this.formats = createFormats(locale);
    this.#locale = locale;
    const { name, languages } = this.#catalog;
    const load = languages[locale];
    if (load && !this.#loaded[locale])
      importAgain(`${name}.${locale}`, load).then(
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

  /** Adds the Portuguese texts of a chunk. */
  addPortuguese(texts: Partial<T>): void {
    Object.assign(this.#catalog.portuguese, texts);
  }

  /** The text of a name. A value without one is of a newer server, and reads as UNKNOWN. */
  text(name: keyof T, values: Record<string, string | number> = {}): string {
    const texts = this.#loaded[this.#locale!] ?? (this.#catalog.portuguese as T);
    const text = this.#labels?.[name] ?? texts[name] ?? texts['UNKNOWN' as keyof T];
    return String(text).replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
  }

  /** The text for an error. */
  problem({ code, reason, retryAfterSeconds }: CheckoutError): string {
    const name: keyof SharedTexts =
      reason === 'FORBIDDEN'
        ? 'forbidden'
        : /timeout|network/.test(code)
          ? 'network'
          : /server|unknown|aborted/.test(code)
            ? 'server'
            : /unau|rate/.test(code)
              ? (code as 'unauthorized')
              : 'contact';
    return this.text(name as keyof T, { seconds: retryAfterSeconds ?? 60 });
  }

  /** The text for one or for many, with their number. */
  count(one: keyof T, many: keyof T, number: number): string {
    const count = this.formats.number(number);
    return this.text(number === 1 ? one : many, { count, total: count });
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
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 8 };
  const ltc = (amount: string) => `${Number(amount).toLocaleString(locale, digits)} LTC`;
  return { money: (cents) => money.format(cents / 100), ltc, number, day, hour, ago };
}
