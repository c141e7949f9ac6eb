import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The forms of secrets that must not appear in a stored line: credentials, card numbers and personal data. Numbers
 * are recognized by their check digits too, so that an instant or an id is not mistaken for a card.
 * @type {Record<string, { form: RegExp, isValid?: (text: string) => boolean }>}
 */
const FORMS = {
  'an API key or token': { form: /\bps_(?:live|test|checkout|payment|dashboard)_[\w-]{12,}/g },
  'a webhook secret': { form: /\bwhsec_[\w+/=-]{8,}/g },
  'a credential': { form: /\b(?:Bearer|Basic) +[\w.~+/=-]{8,}/gi },
  'a password in a URL': { form: /\b[a-z][a-z+]*:\/\/[^\s/:@"]*:[^\s/@"]+@/gi },
  'an e-mail': { form: /[\w.!#$%&'+=?^`{|}~-]+@(?:[a-z0-9-]+\.)+[a-z]{2,}\b/gi },
  'a card number': {
    // One in thousands of spans has an id of digits alone, which may pass the check of a card number.
    form: /(?<![\w.:+-]|pan_?id":")[2-6]\d{3}(?:[ -]?\d{4}){3}(?![\w.:-])|(?<![\w.:+-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w.:-])/gi,
    isValid: passesLuhn,
  },
  'a CPF': { form: /(?<![\w.:+-])\d{3}\.?\d{3}\.?\d{3}-?\d{2}(?![\w:-])/g, isValid: isCpf },
  'a CNPJ': { form: /(?<![\w.:+-])[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}(?![\w:-])/g },
  'a CNPJ without punctuation': { form: /(?<![\w.:+-])[0-9A-Z]{12}\d{2}(?![\w.:-])/g, isValid: isCnpj },
  'a telephone': { form: /\+55\d{10,11}(?!\d)/g },
  'a random PIX key': {
    form: /(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![\w-])/gi,
  },
};

/**
 * Finds the secrets in a text, each with its kind, and with its first characters for a search.
 * @param {string} text @returns {{ kind: string, text: string, masked: string }[]}
 */
export function findSecrets(text) {
  return Object.entries(FORMS).flatMap(([kind, { form, isValid }]) =>
    [...text.matchAll(form)]
      .filter(([found]) => !isValid || isValid(found))
      .map(([found]) => ({ kind, text: found, masked: `${found.slice(0, 4)}…` })),
  );
}

/** Masks all secrets in a line. @param {string} line */
export function mask(line) {
  return findSecrets(line).reduce((rest, secret) => rest.replaceAll(secret.text, secret.masked), line);
}

/** The characters of a line that are reported with a secret. */
const EXCERPT_LENGTH = 300;

/**
 * Searches the output of the servers of a test run (test/support/log-capture.ts) for secrets.
 *
 * @param {string} folder
 * @returns {{ counts: Record<string, number>, found: string[] }} the number of lines of each kind, and the lines with a secret
 */
export function scanOutput(folder) {
  /** @type {Record<string, number>} */
  const counts = { log: 0, error: 0, metrics: 0, trace: 0 };
  /** @type {string[]} */
  const found = [];
  // Most metrics are equal on every server.
  const seen = new Set();
  for (const file of readdirSync(folder).sort()) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue;
      const [, kind = '', test = '', text = ''] = /^(.*?)\t(.*?)\t(.*)$/s.exec(line) ?? [];
      counts[kind] = (counts[kind] ?? 0) + 1;
      // The value of a metric may be any number, also one with the form of a CPF.
      const searched = kind === 'metrics' ? text.replace(/ \S+$/, '') : text;
      if (seen.has(kind + searched)) continue;
      seen.add(kind + searched);
      const [secret] = findSecrets(searched);
      if (secret) found.push(`${test}: ${secret.kind} in ${kind}: ${excerpt(searched, secret)}`);
    }
  }
  return { counts, found };
}

/** @param {string} text @param {{ text: string }} secret */
function excerpt(text, { text: secret }) {
  const at = Math.max(0, text.indexOf(secret) - EXCERPT_LENGTH / 2);
  return mask(text).slice(at, at + EXCERPT_LENGTH);
}

/** @param {string} text */
function passesLuhn(text) {
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
  return new Set(digits).size > 1 && hasCheckDigits(digits, [10, 11]);
}

/** @param {string} text */
function isCnpj(text) {
  return new Set(text).size > 1 && hasCheckDigits(text, [9, 9]);
}

/**
 * Whether the last two digits are the check digits of those before. From the right, the weights count up from 2. A letter
 * counts as its ASCII code less 48, as a digit does.
 * @param {string} digits @param {number[]} maxWeights the largest weight, for each of the two check digits
 */
function hasCheckDigits(digits, maxWeights) {
  return maxWeights.every((max, which) => {
    const before = [...digits.slice(0, digits.length - 2 + which)].reverse();
    const sum = before.reduce(
      (total, digit, index) => total + (digit.charCodeAt(0) - 48) * (2 + (index % (max - 1))),
      0,
    );
    return Number(digits[digits.length - 2 + which]) === ((sum * 10) % 11) % 10;
  });
}
