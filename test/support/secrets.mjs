import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Secrets that must not stand in a stored line: credentials, card numbers, and personal data. Each form is known
 * by its shape, and numbers by their check digits besides, so that an instant or an id is not taken for a card.
 *
 * @type {Record<string, { form: RegExp, holds?: (text: string) => boolean }>}
 */
const FORMS = {
  'an API key or token': { form: /\bps_(?:live|test|checkout|payment|dashboard)_[\w-]{12,}/g },
  'a webhook secret': { form: /\bwhsec_[\w+/=-]{8,}/g },
  'a credential': { form: /\b(?:Bearer|Basic) +[\w.~+/=-]{8,}/gi },
  'a password in a URL': { form: /\b[a-z][a-z+]*:\/\/[^\s/:@"]*:[^\s/@"]+@/gi },
  'an e-mail': { form: /[\w.!#$%&'+=?^`{|}~-]+@(?:[a-z0-9-]+\.)+[a-z]{2,}\b/gi },
  'a card number': {
    // Of a trace's spans one in thousands has an id of digits alone, which may add up as a card does.
    form: /(?<![\w.:+-]|pan_?id":")[2-6]\d{3}(?:[ -]?\d{4}){3}(?![\w.:-])|(?<![\w.:+-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w.:-])/gi,
    holds: isByLuhn,
  },
  'a CPF': { form: /(?<![\w.:+-])\d{3}\.?\d{3}\.?\d{3}-?\d{2}(?![\w:-])/g, holds: isCpf },
  'a CNPJ': { form: /(?<![\w.:+-])[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}(?![\w:-])/g },
  'a CNPJ in digits': { form: /(?<![\w.:+-])\d{14}(?![\w.:-])/g, holds: isCnpj },
  'a telephone': { form: /\+55\d{10,11}(?!\d)/g },
  'a random PIX key': {
    form: /(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![\w-])/gi,
  },
};

/**
 * The secrets in a text, each with its name and with so much of it that it can be looked for.
 * @param {string} text @returns {{ kind: string, text: string, masked: string }[]}
 */
export function secretsIn(text) {
  return Object.entries(FORMS).flatMap(([kind, { form, holds }]) =>
    [...text.matchAll(form)]
      .filter(([found]) => !holds || holds(found))
      .map(([found]) => ({ kind, text: found, masked: `${found.slice(0, 4)}…` })),
  );
}

/** The line with all of them masked. @param {string} line */
export function masked(line) {
  return secretsIn(line).reduce((rest, secret) => rest.replaceAll(secret.text, secret.masked), line);
}

/** A finding: the line that holds a secret, and its kind. */
const SHOWN = 300;

/**
 * Reads what servers have said during a test run (test/support/log-capture.ts).
 *
 * @param {string} folder
 * @returns {{ counts: Record<string, number>, found: string[] }} how many lines of each kind, and each that holds a secret
 */
export function lookThrough(folder) {
  /** @type {Record<string, number>} */
  const counts = { log: 0, error: 0, metrics: 0, trace: 0 };
  /** @type {string[]} */
  const found = [];
  // Every server tells the same of most of its figures.
  const seen = new Set();
  for (const file of readdirSync(folder).sort()) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue;
      const [kind = '', test = '', text = ''] = splitTwice(line);
      counts[kind] = (counts[kind] ?? 0) + 1;
      // A figure itself may be any number, a CPF's too.
      const reported = kind === 'metrics' ? text.replace(/ \S+$/, '') : text;
      if (seen.has(kind + reported)) continue;
      seen.add(kind + reported);
      const [secret] = secretsIn(reported);
      if (secret) found.push(`${test}: ${secret.kind} in ${kind}: ${around(reported, secret)}`);
    }
  }
  return { counts, found };
}

/** @param {string} line */
function splitTwice(line) {
  const first = line.indexOf('\t');
  const second = line.indexOf('\t', first + 1);
  return [line.slice(0, first), line.slice(first + 1, second), line.slice(second + 1)];
}

/** @param {string} text @param {{ text: string }} secret */
function around(text, { text: secret }) {
  const at = Math.max(0, text.indexOf(secret) - SHOWN / 2);
  return masked(text).slice(at, at + SHOWN);
}

/** @param {string} text */
function isByLuhn(text) {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const value = index % 2 === 1 ? digit * 2 : digit;
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0 && new Set(digits).size > 1;
}

/** @param {string} text */
function isCpf(text) {
  const digits = text.replace(/\D/g, '');
  return new Set(digits).size > 1 && endsRight(digits, [10, 11]);
}

/** @param {string} text */
function isCnpj(text) {
  return new Set(text).size > 1 && endsRight(text, [9, 9]);
}

/**
 * Whether the last two digits are the check digits of those before: weights count up from 2, to the left.
 * @param {string} digits @param {number[]} tops the largest weight, for each of the two
 */
function endsRight(digits, tops) {
  return tops.every((top, which) => {
    const before = [...digits.slice(0, digits.length - 2 + which)].reverse();
    const sum = before.reduce((total, digit, index) => total + Number(digit) * (2 + (index % (top - 1))), 0);
    return Number(digits[digits.length - 2 + which]) === ((sum * 10) % 11) % 10;
  });
}
