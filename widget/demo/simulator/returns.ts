import { formatBrl } from '../shared/format.ts';

/** Money that came for a PIX payment and is sent back. */
interface ReturnedCredit {
  amountCents: number;
  /** The cause, in upper or lower case. */
  cause: string;
  returnedAt: string | null;
}

const CAUSE_LABELS: Readonly<Record<string, string>> = {
  already_paid: 'já estava pago',
  amount_mismatch: 'valor diferente do cobrado',
  not_payable: 'não podia mais ser pago',
  paid_elsewhere: 'o pedido foi pago de outro jeito',
};

/** Says why a PIX is sent back. */
export function causeText(cause: string): string {
  return CAUSE_LABELS[cause.toLowerCase()] ?? 'motivo desconhecido';
}

/** Says how much was sent back and why, a sentence for each cause; those that are on their way apart. */
export function returnTexts(credits: readonly ReturnedCredit[]): string[] {
  const groups = new Map<string, { amountCents: number; count: number }>();
  for (const { amountCents, cause, returnedAt } of credits) {
    const text = `${returnedAt ? 'devolvidos' : 'a caminho de volta'}: ${causeText(cause)}`;
    const group = groups.get(text) ?? { amountCents: 0, count: 0 };
    groups.set(text, { amountCents: group.amountCents + amountCents, count: group.count + 1 });
  }
  return [...groups].map(
    ([text, { amountCents, count }]) =>
      `${formatBrl(amountCents)} ${text}${count > 1 ? ` (${count} vezes)` : ''}`,
  );
}
