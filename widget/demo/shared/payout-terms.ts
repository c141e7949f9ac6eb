// The parts that forms of a payout share: the names of keys and destinations, the terms, and the words for a refusal by its field.
import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl } from './format.ts';
import { PAYOUT_METHODS, type PayableMethod } from './payout-methods.ts';
import { isLost, type Refusal } from './post-json.ts';
import { refusalText, UNFIT } from './refusals.ts';

export const KEY_TYPES = {
  cpf: 'CPF',
  cnpj: 'CNPJ',
  phone: 'celular',
  email: 'e-mail',
  random: 'chave aleatória',
} as const;
export type KeyType = keyof typeof KEY_TYPES;

/** The names of what a destination was taken for. */
export const DESTINATION_KINDS: Readonly<Record<string, string>> = {
  ...KEY_TYPES,
  ltc_address: 'endereço Litecoin',
  tron_address: 'endereço na TRON',
  erc20_address: 'endereço na Ethereum',
};

const PIX_PLACEHOLDER = 'CPF, CNPJ, e-mail…';
/** The forms of a destination, in the empty field. */
export const PLACEHOLDERS: Partial<Record<PayableMethod, string>> = {
  PIX: PIX_PLACEHOLDER,
  PIX_TURBO: PIX_PLACEHOLDER,
  LTC: 'ltc1…, L… ou M…',
  USDT: 'T… ou 0x…',
};

export const recordOf = (method: PayableMethod) => PAYOUT_METHODS.find((record) => record.method === method)!;

/** A payout before it is requested. */
export interface Terms {
  method: PayableMethod;
  amountCents: number;
  /** Null if the service names its fee with the payout. */
  feeCents: number | null;
  /** The destination in its normal form, and what it was taken for. */
  destination: string;
  destinationKind: string | null;
}

/** Renders the terms of a payout as a list, with further lines behind them. */
export function renderTerms(
  { method, amountCents, feeCents, destination, destinationKind }: Terms,
  further: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  const kind = DESTINATION_KINDS[destinationKind ?? ''];
  return html`
    <dl class="terms">
      <div><dt>Forma de saque</dt><dd>${recordOf(method).label}</dd></div>
      <div><dt>Para</dt><dd>${destination}${kind ? ` (${kind})` : nothing}</dd></div>
      ${further}
      <div><dt>Sai da carteira</dt><dd>${formatBrl(amountCents)}</dd></div>
      <div><dt>Tarifa</dt><dd>${feeCents === null ? 'conhecida depois do pedido' : formatBrl(feeCents)}</dd></div>
      ${
        feeCents === null
          ? nothing
          : html`<div class="net"><dt>Chega ao destino</dt><dd>${formatBrl(amountCents - feeCents)}</dd></div>`
      }
    </dl>
  `;
}

/** The answer to a request for a payout. */
export interface PayoutAnswer {
  /** Null until the service has named the payout. */
  code: string | null;
  status?: string;
  /** Whether the service may not have made it. */
  inDoubt?: boolean;
  replayed: boolean;
}

/** The sentence about a payout that was requested, or whose request had been received before under the same key. */
export function payoutDone({ code, status, inDoubt, replayed }: PayoutAnswer): string {
  if (inDoubt)
    return 'O serviço ainda não confirmou este saque, e pode tê-lo feito. Não o peça de novo: ele muda de status sozinho na lista.';
  if (status === 'denied')
    return `${replayed ? 'O pedido anterior' : 'O pedido'} foi negado${code ? `: saque ${code}` : ''}. Nada saiu da carteira.`;
  return replayed
    ? `O pedido anterior já tinha chegado: saque ${code}. Nada novo foi pedido.`
    : `Saque ${code} pedido. Ele aparece na lista e muda de status sozinho.`;
}

export interface FormErrors {
  amount?: string;
  destination?: string;
  externalId?: string;
  form?: string;
}

/** The words for a refusal, by the field that they belong to. */
export function errorsOf(refusal: Refusal, method: PayableMethod): FormErrors {
  switch (refusal.code) {
    case 'BAD_USER_INPUT':
      return Object.assign({}, ...refusal.fields.map((field) => fieldError(field, method)));
    case 'INSUFFICIENT_FUNDS':
      if (method === 'LTC') return { amount: 'O saldo em LTC não cobre este valor.' };
      return { amount: `Só há ${formatBrl(refusal.withdrawableCents ?? 0)} para sacar agora.` };
    default:
      if (isLost(refusal))
        return { form: 'Sem resposta. O pedido pode ter chegado: tente de novo, ele não sai em dobro.' };
      return { form: refusalText(refusal) };
  }
}

/** The words for a mistake in one field. */
export function fieldError(
  { path, message }: { path: string; message: string },
  method: PayableMethod,
): FormErrors {
  if (path === 'pixKeyType') return { destination: 'A chave não é do tipo escolhido: confira os dois.' };
  if (path === 'externalId')
    return { externalId: 'A referência tem até 100 caracteres, sem quebras de linha.' };
  if (path === 'destination' && !message.startsWith('must be'))
    return { destination: 'Este endereço não é aceito: o que fosse para ele se perderia.' };
  if (path === 'destination')
    return {
      destination: recordOf(method).isAddress
        ? `Não é um endereço ${method} válido: confira o que foi colado.`
        : 'Não é uma chave PIX: confira os dígitos do CPF ou CNPJ, o +55 do celular ou o e-mail.',
    };
  if (path === 'amountCents') {
    const [, reais] = /\((R\$[^)]+)\)/.exec(message) ?? [];
    if (!reais) return { amount: 'Não é um valor que se possa sacar.' };
    return {
      amount: message.includes('at most')
        ? `O teto de um saque por PIX desta conta é ${reais}.`
        : `Tem de ser mais do que a tarifa, de ${reais}.`,
    };
  }
  return { form: UNFIT };
}
