// The terms of a batch of payouts that was checked, before it is confirmed.
import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull } from '../demo/shared/format.ts';
import { DESTINATION_KINDS } from '../demo/shared/payout-terms.ts';
import type { Row } from './batch-file.ts';
import { addressOfOne } from './place.ts';
import { timeWords } from './times.ts';

/** The check of the rows, by the server. */
export interface Check {
  errors: { row: number; field: string; message: string }[];
  count: number;
  totalCents: number;
  feesCents: number | null;
  duplicates: number[][];
  /** The kind of each destination, by row; empty if there are errors. */
  destinationKinds: (string | null)[];
  confirmedBefore: string | null;
  paidBefore: PaidRow[];
  lacksSince: string | null;
  endsAt: string;
}

/** A row that repeats a payout. */
export interface PaidRow {
  row: number;
  payoutId: string;
  code: string | null;
  requestedAt: string | null;
  inDoubt: boolean;
}

/** The rows of a file that were checked. */
export interface Checked {
  /** The line of each row in the file. */
  lines: readonly number[];
  rows: readonly Row[];
  check: Check;
  /** Whether rows that repeat payouts are paid all the same. */
  paysAgain: boolean;
  /** Whether this repeats a request without an answer: what was paid before may be its own. */
  isRepetition: boolean;
}

export function renderSums({ count, totalCents, feesCents, endsAt }: Check, now: Date): TemplateResult {
  return html`<dl class="terms">
    <div><dt>Saques</dt><dd>${count}</dd></div>
    <div><dt>Sai da carteira</dt><dd>${formatBrl(totalCents)}</dd></div>
    <div><dt>Tarifas</dt><dd>${feesCents === null ? 'conhecidas depois do pedido' : formatBrl(feesCents)}</dd></div>
    ${
      feesCents === null
        ? nothing
        : html`<div class="net"><dt>Chega aos destinos</dt><dd>${formatBrl(totalCents - feesCents)}</dd></div>`
    }
    <div><dt>Com 10 saques por hora, o último sai</dt><dd>por volta ${timeWords(new Date(endsAt), now, ['das', 'de'])}</dd></div>
  </dl>`;
}

/** Renders what is to be looked at before the batch is confirmed. */
export function renderWarnings({ lines, check, isRepetition }: Checked): TemplateResult {
  const { duplicates, confirmedBefore, paidBefore, lacksSince } = check;
  return html`
    ${duplicates.map(
      (rows) =>
        html`<p class="warning">
          As linhas ${listOf(rows.map((row) => lines[row - 1]!))} têm a mesma forma, o mesmo destino e o mesmo valor. Cada uma é um saque.
        </p>`,
    )}
    ${
      lacksSince
        ? html`<p class="warning">
            O servidor foi restaurado de um backup e não conhece o que foi pago depois de ${formatFull(new Date(lacksSince))}.
            Compare o arquivo com os saques que o banco mostra.
          </p>`
        : nothing
    }
    ${
      confirmedBefore && paidBefore.length === 0 && !isRepetition
        ? html`<p class="warning">
            Um lote com as mesmas linhas foi confirmado em ${formatFull(new Date(confirmedBefore))}. Este seria
            pago além daquele.
          </p>`
        : nothing
    }
  `;
}

/** Renders the rows that repeat payouts, in front of the choice between them. */
export function renderPaid({ lines, rows, check: { paidBefore } }: Checked): TemplateResult {
  const many = paidBefore.length;
  return html`
    <p class="warning" role="alert">
      ${many === 1 ? 'Uma linha repete um saque' : `${many} linhas repetem saques`} dos últimos 7 dias, com a mesma
      forma, o mesmo destino e o mesmo valor:
    </p>
    ${renderTable(
      'Linhas já pagas',
      ['Linha', 'Valor', 'Destino', 'Saque'],
      paidBefore.map((paid) => {
        const { amountCents, destination } = rows[paid.row - 1]!;
        return [lines[paid.row - 1]!, formatBrl(amountCents!), destination, renderPayout(paid)];
      }),
    )}
  `;
}

/** Renders the payout that a row repeats. Its page opens beside this one, whose rows would be gone after it. */
export function renderPayout({ payoutId, code, requestedAt, inDoubt }: PaidRow): TemplateResult {
  const name = inDoubt ? 'sem confirmação do serviço' : (code ?? payoutId);
  const payout = code
    ? html`<a href=${addressOfOne('payouts', code)} target="_blank" aria-label=${`${name} (em outra aba)`}>${name}</a>`
    : name;
  return html`${payout}${requestedAt ? `, de ${formatFull(new Date(requestedAt))}` : nothing}`;
}

/** Renders the destination of each row, with what it was taken for. */
export function renderDestinations({ lines, rows, check: { destinationKinds } }: Checked): TemplateResult {
  const named = destinationKinds.map((kind) => DESTINATION_KINDS[kind ?? ''] ?? 'outro');
  const counts = [...new Set(named)].map((name) => `${named.filter((each) => each === name).length} ${name}`);
  return html`<details>
    <summary>Destinos: ${counts.join(', ')}</summary>
    ${renderTable(
      'Destinos do lote',
      ['Linha', 'Valor', 'Destino', 'Tipo'],
      rows.map(({ amountCents, destination }, place) => [
        lines[place]!,
        formatBrl(amountCents!),
        destination,
        named[place] ?? '',
      ]),
    )}
  </details>`;
}

function renderTable(
  label: string,
  heads: readonly string[],
  cells: readonly (readonly (string | number | TemplateResult)[])[],
): TemplateResult {
  const kind = (place: number) => (place < 2 ? 'numeric' : '');
  return html`<div class="scroller" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead>
        <tr>${heads.map((head, place) => html`<th scope="col" class=${kind(place)}>${head}</th>`)}</tr>
      </thead>
      <tbody>
        ${cells.map((row) => html`<tr>${row.map((cell, place) => html`<td class=${kind(place)}>${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** Lists the first of several numbers, and the last. */
const listOf = (numbers: readonly number[]) =>
  `${numbers.slice(0, -1).slice(0, 10).join(', ')}${numbers.length > 11 ? ' …' : ''} e ${String(numbers.at(-1))}`;
