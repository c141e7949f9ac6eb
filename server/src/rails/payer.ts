/** The payer, as far as the merchant has named it. A rail gets the whole CPF or CNPJ; no log has it. */
export interface Payer {
  name?: string | undefined;
  email?: string | undefined;
  taxId?: string | undefined;
}
