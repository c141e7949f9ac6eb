import { z } from 'zod';
import type { CardDetails, CardRefusal } from '../hosted-checkout.ts';

export const CARD_FIELDS = ['number', 'holder', 'expiry', 'cvv'] as const;
export type CardField = (typeof CARD_FIELDS)[number];

/** The reason why a field cannot be charged. The page words it in the payer's language. */
export type CardProblem = 'missing' | 'invalid' | 'expired' | CardRefusal;

export type CardErrors = Partial<Record<CardField, CardProblem>>;

/** Values that return into the form after an error: never the number, never the CVV. */
export interface KeptFields {
  holder: string;
  expiry: string;
}

export type CardForm =
  | { ok: true; card: CardDetails; kept: KeptFields }
  | { ok: false; errors: CardErrors; kept: KeptFields };

/**
 * Parses the card form as the browser posted it. `refusal(number)` returns why a valid number is not accepted here, or null.
 * Reports every wrong field at once, each with one reason.
 */
export function parseCardForm(
  form: URLSearchParams,
  { now, refusal }: { now: Date; refusal: (cardNumber: string) => CardRefusal | null },
): CardForm {
  const typed = (field: CardField) => {
    const text = form.get(field) ?? '';
    return field === 'expiry' ? monthFirst(text) : text;
  };
  const kept = { holder: keptHolder(typed('holder')), expiry: keptExpiry(typed('expiry')) };

  const number = cardNumber(refusal).safeParse(typed('number'));
  const holder = cardHolder.safeParse(typed('holder'));
  const expiry = cardExpiry(now).safeParse(typed('expiry'));
  const cvv = securityCode(typed('number')).safeParse(typed('cvv'));
  if (number.success && holder.success && expiry.success && cvv.success) {
    const { month: expiryMonth, year: expiryYear } = expiry.data;
    const card = {
      number: number.data,
      holder: holder.data,
      expiryMonth,
      expiryYear,
      securityCode: cvv.data,
    };
    return { ok: true, card, kept };
  }
  const errors: CardErrors = {};
  for (const [field, result] of Object.entries({ number, holder, expiry, cvv }))
    if (!result.success) errors[field as CardField] = result.error.issues[0]!.message as CardProblem;
  return { ok: false, errors, kept };
}

/**
 * Puts the month first if a browser has filled in AAAA-MM or AAAA-MM-DD: the rule of checkout-page/card.js.
 */
const monthFirst = (text: string) =>
  text.replace(/^\s*(20[0-9]{2})[^0-9]?(0[1-9]|1[0-2])([^0-9][0-9]{2})?\s*$/, '$2/$1');

const withoutSeparators = (text: string) => text.replace(/[\s.-]/g, '');

// The message of each issue is its reason, typed.
const MISSING: CardProblem = 'missing';
const INVALID: CardProblem = 'invalid';
const EXPIRED: CardProblem = 'expired';

const required = z.string().min(1, { error: MISSING, abort: true });

function cardNumber(refusal: (cardNumber: string) => CardRefusal | null) {
  return z
    .string()
    .transform(withoutSeparators)
    .pipe(
      required
        .regex(/^[0-9]{13,19}$/, { error: INVALID, abort: true })
        .refine(isLuhn, { error: INVALID, abort: true })
        .superRefine((number, context) => {
          const reason = refusal(number);
          if (reason !== null) context.addIssue({ code: 'custom', message: reason });
        }),
    );
}

const cardHolder = z
  .string()
  .transform((text) => text.trim().replace(/\s+/g, ' '))
  .pipe(required.regex(/^(?=.{2,60}$)\p{L}[\p{L}\p{M} .'’-]*$/u, INVALID));

/** Reads MM/AA, and MM/AAAA as browsers fill it in. */
function cardExpiry(now: Date) {
  return z
    .string()
    .transform((text) => text.replace(/\s/g, ''))
    .pipe(
      required.transform((text, context) => {
        const [, month, year] = /^(0[1-9]|1[0-2])\/?((?:20)?[0-9]{2})$/.exec(text) ?? [];
        const expiry = { month: Number(month), year: 2000 + (Number(year) % 100) };
        const endsAt = endOfMonth(expiry);
        if (month === undefined || endsAt.getUTCFullYear() > now.getUTCFullYear() + 20)
          context.addIssue({ code: 'custom', message: INVALID });
        else if (endsAt <= now) context.addIssue({ code: 'custom', message: EXPIRED });
        return expiry;
      }),
    );
}

/** The instant at which a card expires: the end of its month in Brasília, 03:00 UTC on the first of the next. */
function endOfMonth({ month, year }: { month: number; year: number }): Date {
  return new Date(Date.UTC(year, month, 1, 3));
}

function securityCode(typedNumber: string) {
  const length = /^3[47]/.test(withoutSeparators(typedNumber)) ? 4 : 3;
  return z
    .string()
    .transform((text) => text.trim())
    .pipe(required.regex(new RegExp(`^[0-9]{${length}}$`), INVALID));
}

/** Whether the check digit (Luhn) is right: it reveals one wrong digit and most swapped ones. */
function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
}

// A card number in the wrong field would return in the page, so a value that could hold one is dropped.
const keptHolder = (text: string) => (/\p{N}/u.test(text) ? '' : text.trim().slice(0, 60));
const keptExpiry = (text: string) =>
  /^[0-9 /]{0,9}$/.test(text) && withoutSeparators(text).length <= 7 ? text.trim() : '';
