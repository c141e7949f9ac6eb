/** The members that the merchant has given of the payer. A rail gets the whole CPF or CNPJ; no log has it. */
export interface Payer {
  name?: string | undefined;
  email?: string | undefined;
  taxId?: string | undefined;
}
