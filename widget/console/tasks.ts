import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull, formatLtc, formatRelative } from '../demo/shared/format.ts';
import { type Api, ask, type Parts } from './api.ts';
import { addressOfResource } from './links.ts';
import { TASKS, type Tasks } from './operations.ts';
import { addressOf, addressOfOne } from './place.ts';
import { Reading } from './reading.ts';
import { staleNotice } from './stale.ts';

/** The age up to which failures, and LTC that nobody has credited, are shown: neither ever ends by itself. */
const SHOWN_DAYS = 7;
const LTC_DAYS = 30;
const DAY_MS = 86_400_000;
/** The pause between two readings while the page is visible. */
const EVERY_MS = 30_000;

/** The requests whose outcome is unknown, by their operation: their names, and the page that has them. */
const OPERATIONS: Readonly<Record<string, [name: string, page: string]>> = {
  CREATE_CARD_PAYMENT: ['Pagamento no cartão', 'sales'],
  CREATE_CHARGE: ['Cobrança', 'sales'],
  CREATE_DELIVERY: ['Conteúdo de produto', 'products'],
  CREATE_PAYMENT: ['Pagamento', 'sales'],
  CREATE_SUBSCRIPTION: ['Assinatura', 'subscriptions'],
  REFUND: ['Estorno', 'sales'],
  REQUEST_PAYOUT: ['Saque', 'payouts'],
  REQUEST_SUBACCOUNT_PAYOUT: ['Saque de subconta', 'subaccounts'],
  START_CHECKOUT: ['Pagamento no cartão', 'sales'],
  START_PIX_CHECKOUT: ['Pagamento por PIX', 'sales'],
  SUBMIT_DISPUTE_EVIDENCE: ['Defesa de disputa', 'disputes'],
  TRANSFER_TO_SUBACCOUNT: ['Transferência a subconta', 'subaccounts'],
};

/** A line of the list: how many of a kind there are, and the first of them. */
interface Task {
  name: string;
  title: string;
  count: string;
  hint: string;
  /** The page that lists them; null if there is none. */
  href: string | null;
  items: { id: string; href: string | null; text: string; at: string | null }[];
}

/** The codes of kinds that this key or this service does not have: nothing of them waits. */
const ABSENT: ReadonlySet<string> = new Set(['FORBIDDEN', 'NOT_OFFERED']);

/** Lists what waits for a person: each kind with its number, and on a click the first of them. */
export class ConsoleTasks extends LitElement {
  static override properties = { api: { attribute: false } };

  declare api: Api;
  readonly #tasks = new Reading(this, EVERY_MS, () => {
    const daysAgo = (days: number) => new Date(this.api.now().getTime() - days * DAY_MS).toISOString();
    return ask<Tasks>(this.api, TASKS, { since: daysAgo(SHOWN_DAYS), ltcSince: daysAgo(LTC_DAYS) });
  });

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { data, failed } = this.#tasks;
    const isPartial = failed || Object.values(data?.codes ?? {}).some((code) => !ABSENT.has(code));
    return html`
      <h2>Precisa de você</h2>
      ${isPartial ? html`<p class="error" role="status">Não foi possível ler agora. A página tenta de novo sozinha.</p>` : nothing}
      ${staleNotice(data?.staleSince, this.api.now())}
      ${data ? this.#renderTasks(listOf(data.data), isPartial) : failed ? nothing : html`<p class="empty">Lendo…</p>`}
    `;
  }

  #renderTasks(tasks: readonly Task[], isPartial: boolean): TemplateResult | typeof nothing {
    if (tasks.length === 0) return isPartial ? nothing : html`<p class="empty">Nada espera por você.</p>`;
    const now = this.api.now();
    return html`${tasks.map(
      ({ name, title, count, hint, href, items }) => html`<details class="task" data-task=${name}>
        <summary><span>${title}</span> <strong>${count}</strong></summary>
        <p class="hint">${hint} ${href === null ? nothing : html`<a data-page href=${href}>Abrir a lista</a>`}</p>
        <ul>
          ${items.map(
            ({ id, href, text, at }) => html`<li>
              ${href === null ? html`<code>${id}</code>` : html`<a data-page href=${href}><code>${id}</code></a>`}
              <span>${text}</span>
              ${at ? html`<time datetime=${at} title=${formatFull(new Date(at))}>${formatRelative(new Date(at), now)}</time>` : nothing}
            </li>`,
          )}
        </ul>
      </details>`,
    )}`;
  }
}

/** Lists the kinds that there are. A kind that could not be read, or may not be, is not among them. */
function listOf({ requestsInDoubt, disputes, webhookDeliveries, refunds, ...ltc }: Parts<Tasks>): Task[] {
  const tasks: Task[] = [];
  if (requestsInDoubt && requestsInDoubt.nodes.length > 0)
    tasks.push({
      name: 'doubts',
      title: 'Pedidos sem resposta',
      count: `${requestsInDoubt.nodes.length}${requestsInDoubt.pageInfo.hasNextPage ? '+' : ''}`,
      href: null,
      hint: 'Ainda não se sabe se foram feitos. Não repita um deles antes de saber.',
      items: requestsInDoubt.nodes.map(({ requestId, operation, amountCents, requestedAt }) => {
        const [text, page] = OPERATIONS[operation] ?? ['Outro pedido', ''];
        return {
          id: requestId,
          href: page === '' ? null : addressOf(page),
          text: [text, ...money(amountCents)].join(' · '),
          at: requestedAt,
        };
      }),
    });
  if (disputes && disputes.totalCount > 0)
    tasks.push({
      name: 'disputes',
      title: 'Disputas que esperam defesa',
      count: String(disputes.totalCount),
      href: addressOf('disputes?statuses=OPEN&sort=due'),
      hint: 'Sem defesa até o prazo, os bancos decidem sem ela.',
      items: disputes.nodes
        .map(({ disputeId, amountCents, evidenceDueAt }) => ({
          id: disputeId,
          href: addressOfOne('disputes', disputeId),
          text: `${formatBrl(amountCents)}${evidenceDueAt ? ' · prazo' : ''}`,
          at: evidenceDueAt,
        }))
        .sort((left, right) => (left.at ?? '~').localeCompare(right.at ?? '~')),
    });
  if (webhookDeliveries && webhookDeliveries.totalCount > 0)
    tasks.push({
      name: 'webhooks',
      title: 'Webhooks não entregues',
      count: String(webhookDeliveries.totalCount),
      href: addressOf('developers?status=EXHAUSTED'),
      hint: `Nenhuma das tentativas foi aceita, nos últimos ${SHOWN_DAYS} dias.`,
      items: webhookDeliveries.nodes.map(({ webhookId, event, createdAt, resource }) => ({
        id: webhookId,
        href: addressOfResource(resource),
        text: event,
        at: createdAt,
      })),
    });
  if (refunds && refunds.totalCount > 0)
    tasks.push({
      name: 'refunds',
      title: 'Estornos que falharam',
      count: String(refunds.totalCount),
      href: null,
      hint: `O dinheiro voltou à conta, nos últimos ${SHOWN_DAYS} dias.`,
      items: refunds.nodes.map(({ refundId, amountCents, failureReason, failedAt, of }) => ({
        id: refundId,
        href: addressOfResource(of),
        text: [...money(amountCents), failureReason ?? ''].filter(Boolean).join(' · '),
        at: failedAt,
      })),
    });
  return [...tasks, ...ltcTasks(ltc)];
}

/** Lists the LTC that came for payments, did not pay them and were not credited since. Without the statement nobody can say. */
function ltcTasks({ payments, wallet }: Pick<Parts<Tasks>, 'payments' | 'wallet'>): Task[] {
  if (!payments || !wallet) return [];
  const credited = new Set(wallet.statement.nodes.map(({ reference }) => reference));
  const items = payments.nodes.flatMap(({ paymentId, amountCents, createdAt, ltc }) =>
    ltc && Number(ltc.receivedLtc) > 0 && !credited.has(paymentId)
      ? {
          id: paymentId,
          href: addressOfOne('sales', paymentId),
          text: `${formatLtc(ltc.receivedLtc!)} de uma venda de ${formatBrl(amountCents)}`,
          at: createdAt,
        }
      : [],
  );
  if (items.length === 0) return [];
  return [
    {
      name: 'ltc',
      title: 'LTC que espera pelo operador',
      count: String(items.length),
      href: addressOf('sales?methods=LTC&statuses=FAILED+EXPIRED'),
      hint: `Chegou e não pagou a venda, nos últimos ${LTC_DAYS} dias. Não volta sozinho: o operador do serviço o credita.`,
      items,
    },
  ];
}

const money = (cents: number | null): string[] => (cents === null ? [] : [formatBrl(cents)]);

customElements.define('console-tasks', ConsoleTasks);
