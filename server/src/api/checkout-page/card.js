// The rules of a card's number, expiry date and code, as the form of the payer's page applies them while they are typed.

/** Writes a card's digits in the groups of its brand. @param {string} digits */
export function groupNumber(digits) {
  const groups = isAmex(digits)
    ? /^(\d{1,4})(\d{1,6})?(\d{1,5})?/
    : /^(\d{1,4})(\d{1,4})?(\d{1,4})?(\d{1,7})?/;
  return groups.exec(digits)?.slice(1).filter(Boolean).join(' ') ?? '';
}

/** Writes the digits of an expiry date as MM/YY or MM/YYYY. @param {string} digits */
export function groupExpiry(digits) {
  const padded = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  // Browsers fill in MM/AAAA.
  const [month, year] = [padded.slice(0, 2), padded.length === 6 ? padded.slice(4) : padded.slice(2, 6)];
  return year === '' ? month : `${month}/${year}`;
}

/** Puts the month of an expiry date first, where it was filled in as YYYY-MM or YYYY-MM-DD. @param {string} text */
export function monthFirst(text) {
  return text.replace(/^\s*(20\d\d)\D?(0[1-9]|1[0-2])(\D\d\d)?\s*$/, '$2/$1');
}

/** @param {string} digits */
export function isAmex(digits) {
  return /^3[47]/.test(digits);
}

/** The brand of a card by its first digits; empty if they name none. @param {string} digits */
export function brandOf(digits) {
  if (isAmex(digits)) return 'Amex';
  if (/^(4011|4312|4389|4514|4573|5041|5066|5067|5090|6277|6362|6363|650[0-9]|6516|6550)/.test(digits))
    return 'Elo';
  if (/^(606282|3841)/.test(digits)) return 'Hipercard';
  if (/^4/.test(digits)) return 'Visa';
  if (/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(digits)) return 'Mastercard';
  return '';
}

/**
 * Whether a field of the form is complete.
 * @param {string} name @param {string} value without spaces around it @param {string} number the card's number
 * @returns {boolean | undefined} undefined for a field of another name
 */
export function isComplete(name, value, number) {
  const digits = value.replace(/\D/g, '');
  return {
    number: /^\d{13,19}$/.test(digits) && isLuhn(digits),
    holder: /^(?=.{2,60}$)\p{L}[\p{L}\p{M} .'’-]*$/u.test(value.replace(/\s+/g, ' ')),
    expiry: /^(0[1-9]|1[0-2])\/?(20)?\d\d$/.test(monthFirst(value)),
    cvv: digits.length === (isAmex(number) ? 4 : 3),
  }[name];
}

/**
 * Checks a card number by its check digit, as card-payments/page/form.ts does: the browser cannot import that file.
 * @param {string} digits
 */
function isLuhn(digits) {
  let sum = 0;
  for (const [index, character] of [...digits].reverse().entries()) {
    const value = Number(character) * (index % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
