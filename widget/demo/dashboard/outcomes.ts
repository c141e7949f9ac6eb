// The sentences about a request that was accepted.
import { formatBrl } from '../shared/format.ts';

/** An answer that tells whether the request had been received before, under the same key. */
export interface Replayable {
  replayed: boolean;
}

export const payoutDone = ({ code, replayed }: Replayable & { code: string }) =>
  replayed
    ? `O pedido anterior já tinha chegado: saque ${code}. Nada novo foi pedido.`
    : `Saque ${code} pedido. Ele aparece na lista e muda de status sozinho.`;

export const refundDone = (amountCents: number, { replayed = false }: Partial<Replayable>) =>
  replayed
    ? `O pedido anterior já tinha chegado: estorno de ${formatBrl(amountCents)}. Nada novo foi pedido.`
    : `Estorno de ${formatBrl(amountCents)} pedido.`;

export const evidenceDone = ({ replayed }: Replayable) =>
  replayed ? 'As provas já tinham chegado. Nada novo foi enviado.' : 'Provas enviadas. Os bancos decidem.';
