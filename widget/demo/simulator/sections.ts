import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatRelative, formatTime, parseCents } from '../shared/format.ts';
import { PAYOUT_METHODS } from '../shared/payout-methods.ts';
import { DESTINATIONS } from './destinations.ts';
import { disputed, type Page } from './page.ts';
import { ROUTES } from './routes.ts';
import type { Snapshot } from './snapshot.ts';

/** The label of a method by its name on the wire; the name itself of one that this page does not know. */
const labelOf = (name: string) => PAYOUT_METHODS.find(({ wireName }) => wireName === name)?.label ?? name;
const STATUS_LABELS = {
  in_verification: 'Em verificação',
  queued: 'Na fila do banco',
  sent: 'Enviada, sem resposta',
};

const DISPUTE_LABELS: Record<string, string> = {
  open: 'aberta',
  under_review: 'em análise',
  lost: 'perdida, valor ainda retido',
};

// ── Transfers ─────────────────────────────────────────────────────────────────────────────────

export function renderTransfers({ transfers }: Snapshot, page: Page, live: boolean): TemplateResult {
  return html`
    <section class="card" aria-labelledby="transfers-title">
      <h2 id="transfers-title">Transferências a caminho</h2>
      ${
        transfers.length === 0
          ? html`<p class="empty">
              Nenhuma agora: um PIX comum conclui em segundos. Para ter tempo de mexer, peça um saque para
              <code>demora@psa.example</code>.
            </p>`
          : html`<ul class="rows stacked">
              ${transfers.map(
                (transfer) => html`
                  <li>
                    <p>
                      <strong>${formatBrl(transfer.amountCents)}</strong>
                      <span>${labelOf(transfer.method)} para ${transfer.destination}</span>
                      <small>
                        ${STATUS_LABELS[transfer.status]}${
                          transfer.until
                            ? `, termina ${formatRelative(new Date(transfer.until), page.now())}`
                            : ''
                        }
                      </small>
                      <small><code>${transfer.id}</code></small>
                    </p>
                    <div class="buttons" role="group" aria-label=${`Transferência de ${formatBrl(transfer.amountCents)}`}>
                      ${page.renderButton('Concluir', `transfers/${transfer.id}/settle`, 'Transferência concluída.')}
                      ${live ? page.renderButton('Negar', `transfers/${transfer.id}/deny`, 'Transferência negada.') : nothing}
                      ${page.renderButton('Adiar 10 min', `transfers/${transfer.id}/delay`, 'Transferência adiada.', { seconds: 600 })}
                    </div>
                  </li>
                `,
              )}
            </ul>`
      }
      <details class="payers">
        <summary>Destinos que agem sozinhos</summary>
        <dl>
          ${DESTINATIONS.map(
            ({ destination, effect }) =>
              html`<div><dt><code>${destination}</code></dt><dd>${effect}</dd></div>`,
          )}
        </dl>
      </details>
    </section>
  `;
}

export function renderReturnable({ returnableTransfers }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card" aria-labelledby="returnable-title">
      <h2 id="returnable-title">Transferências que chegaram</h2>
      ${
        returnableTransfers.length === 0
          ? html`<p class="empty">Nenhuma: só um PIX que chegou pode ser devolvido, com uma chave de produção.</p>`
          : html`<ul class="rows stacked">
              ${returnableTransfers.map(
                (transfer) => html`
                  <li>
                    <p>
                      <strong>${formatBrl(transfer.amountCents)}</strong>
                      <span>${labelOf(transfer.method)} para ${transfer.destination}</span>
                      <small><code>${transfer.id}</code></small>
                    </p>
                    <div class="buttons" role="group" aria-label=${`Transferência de ${formatBrl(transfer.amountCents)}`}>
                      ${page.renderButton('Devolver', `transfers/${transfer.id}/return`, 'Transferência devolvida.')}
                    </div>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `;
}

// ── The store ─────────────────────────────────────────────────────────────────────────────────

/** A store as the chat platform would show it; one price is not in its format. */
const STORE = [
  { id: 'caneca', name: 'Caneca de cerâmica', price: '49,90', available: true },
  { id: 'rede', name: 'Rede Varanda', price: 'R$ 1.234,56', available: true },
  { id: 'curso', name: 'Curso de jardinagem', price: 'sob consulta', available: false },
];

export function renderStore({ storeProducts }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card" aria-labelledby="store-title">
      <h2 id="store-title">Loja da plataforma</h2>
      <p class="empty">${
        storeProducts === 0
          ? 'Nenhum produto.'
          : `${storeProducts} ${storeProducts === 1 ? 'produto' : 'produtos'}, como no painel.`
      }</p>
      <div class="buttons" role="group" aria-labelledby="store-title">
        ${page.renderButton('Pôr um exemplo', 'store', 'A loja tem os produtos do exemplo.', { products: STORE })}
        ${page.renderButton('Esvaziar', 'store', 'A loja está vazia.', { products: [] })}
      </div>
    </section>
  `;
}

// ── Disputes, card payments, test payments ────────────────────────────────────────────────────

export function renderDisputes({ disputes }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card" aria-labelledby="disputes-title">
      <h2 id="disputes-title">Disputas</h2>
      ${page.renderForm({
        field: 'dispute',
        label: 'Abrir uma, no valor de',
        initial: '50,00',
        button: 'Abrir',
        submit: (text) => {
          const amountCents = parseCents(text);
          if (!amountCents) {
            page.showError('dispute', 'Escreva um valor, como 50,00.');
            return;
          }
          void page.run('disputes', { amountCents }, 'Disputa aberta; o valor ficou retido.', {
            amountCents: { field: 'dispute', error: 'É mais do que se pode contestar.' },
          });
        },
      })}
      <ul class="rows">
        ${disputes.map(({ id, amountCents, status, resourceId, evidence, createdAt }) => {
          const close = (label: string, outcome: string) =>
            page.renderButton(label, `disputes/${id}/close`, 'Disputa encerrada.', { outcome });
          return html`
            <li>
              <p>
                <strong>${formatBrl(amountCents)}</strong>
                <span>${DISPUTE_LABELS[status] ?? status}</span>
                <small>
                  ${formatRelative(new Date(createdAt), page.now())}${evidence > 0 ? `, provas: ${evidence}` : ''}
                </small>
                ${resourceId ? html`<small><code>${resourceId}</code></small>` : nothing}
              </p>
              <div class="buttons" role="group" aria-label=${`Disputa de ${formatBrl(amountCents)}`}>
                ${
                  status === 'lost'
                    ? close('Perdoar', 'forgiven')
                    : html`${close('Ganhar', 'won')} ${close('Perder', 'lost')}`
                }
              </div>
            </li>
          `;
        })}
      </ul>
    </section>
  `;
}

export function renderCardPayments({ cardPayments }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card" aria-labelledby="card-payments-title">
      <h2 id="card-payments-title">Vendas pagas</h2>
      ${
        cardPayments.length === 0
          ? html`<p class="empty">Nenhuma. <a href="/demo/">Compre algo na loja</a> para ter o que estornar.</p>`
          : html`<ul class="rows">
              ${cardPayments.map(
                ({ orderCode, amountCents, description, paidAt }) => html`
                  <li>
                    <p>
                      <strong>${formatBrl(amountCents)}</strong>
                      <span>${description ?? 'Sem descrição'}</span>
                      <small>
                        <code>${orderCode}</code>${paidAt ? `, ${formatTime(new Date(paidAt), page.now())}` : ''}
                        </small>
                    </p>
                    <div class="buttons">
                      ${page.renderButton('Estornar', `card-payments/${orderCode}/refund`, 'Estorno pedido.')}
                      ${page.renderButton('Contestar', 'disputes', disputed, { id: orderCode, amountCents })}
                    </div>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `;
}

export function renderTestPayments({ testPayments }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card" aria-labelledby="test-payments-title">
      <h2 id="test-payments-title">Pagamentos de teste pendentes</h2>
      ${
        testPayments.length === 0
          ? html`<p class="empty">
              Nenhum. O que for criado no ambiente de teste sem ser pago aparece aqui.
            </p>`
          : html`<ul class="rows">
              ${testPayments.map(
                ({ id, valueCents, createdAt }) => html`
                  <li>
                    <p>
                      <strong>${formatBrl(valueCents)}</strong>
                      <small><code>${id}</code> ${formatRelative(new Date(createdAt), page.now())}</small>
                    </p>
                    <div class="buttons">
                      ${page.renderButton('Pagar', `test-payments/${id}/settle`, 'Pagamento de teste pago.')}
                    </div>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `;
}

// ── The routes ────────────────────────────────────────────────────────────────────────────────

export function renderRoutes(): TemplateResult {
  return html`
    <details class="card routes">
      <summary><h2>As mesmas alavancas, por linha de comando</h2></summary>
      <p>
        Cada <code>POST</code> leva JSON e, fora desta página, o cabeçalho <code>x-psa-action: 1</code>.
        <code>account</code> e <code>environment</code> no corpo escolhem a conta; sem eles é a primeira, em produção.
        A recusa vem como <code>{ "error" }</code>: 404 não achou, 409 já não cabe. A do serviço tem também
        <code>"code"</code> e <code>"fields"</code>: 400 nomeia o campo.
      </p>
      <pre
        tabindex="0"
        aria-label="Exemplo com curl"
      >curl ${location.origin}/simulator/credit -H 'content-type: application/json' -H 'x-psa-action: 1' -d '{"amountCents":100000}'</pre>
      <dl>
        ${ROUTES.map(
          ({ route, body, effect }) => html`
            <div>
              <dt><code>${route}</code></dt>
              <dd>${effect} <code class="faint">${body}</code></dd>
            </div>
          `,
        )}
      </dl>
    </details>
  `;
}
