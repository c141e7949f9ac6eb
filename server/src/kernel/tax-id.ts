import { cnpj, cpf } from 'cpf-cnpj-validator';
import { z } from 'zod';

/** The two tax numbers of Brazil: a person's CPF and a company's CNPJ. */
export type TaxIdKind = 'cpf' | 'cnpj';

export interface TaxId {
  kind: TaxIdKind;
  /** The number without punctuation: 11 digits of a CPF, 14 digits and upper-case letters of a CNPJ. */
  taxId: string;
}

const CPF = /^(\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/;
/** A CNPJ has letters too, since 2026; its two check digits stay digits. */
const CNPJ = /^([0-9A-Z]{12}\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})$/i;

/** Parses a text as a CPF or a CNPJ, with its punctuation or without; null for any other text. */
export function parseTaxId(text: string): TaxId | null {
  const kind = CPF.test(text) ? 'cpf' : CNPJ.test(text) ? 'cnpj' : null;
  if (kind === null) return null;
  const taxId = text.replace(/[./-]/g, '').toUpperCase();
  return hasCheckDigits(taxId, kind === 'cpf' ? cpf : cnpj) ? { kind, taxId } : null;
}

/**
 * Whether the check digits are right. `isValid` would also refuse 123.456.789-09. One digit repeated is no
 * valid number.
 */
function hasCheckDigits(taxId: string, { verifierDigit }: { verifierDigit(base: string): number }): boolean {
  const base = taxId.slice(0, -2);
  const first = verifierDigit(base);
  return !/^(.)\1+$/.test(taxId) && taxId === `${base}${first}${verifierDigit(`${base}${first}`)}`;
}

/** A CPF or a CNPJ in its normal form. The message does not repeat the text. */
export const taxIdText = z.string().transform((text, context) => {
  const parsed = parseTaxId(text);
  if (parsed) return parsed.taxId;
  context.addIssue('must be a CPF or a CNPJ with its check digits');
  return z.NEVER;
});

/** Masks a CPF or a CNPJ in its normal form: the middle is shown, as Brazilian banks do. */
export function maskTaxId(taxId: string): string {
  return taxId.length === 11
    ? `***.${taxId.slice(3, 6)}.${taxId.slice(6, 9)}-**`
    : `**.***.${taxId.slice(5, 8)}/${taxId.slice(8, 12)}-**`;
}

/** Copies a customer for an answer, with the tax number masked. */
export function withMaskedTaxId<Customer extends { taxId?: string | undefined }>(
  customer: Customer | null,
): Customer | null {
  return customer?.taxId === undefined ? customer : { ...customer, taxId: maskTaxId(customer.taxId) };
}
