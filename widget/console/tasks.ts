import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull, formatRelative } from '../demo/shared/format.ts';
import { type Api, type Parts, query } from './api.ts';
import { TASKS, type Tasks } from './operations.ts';

/** The age up to which failures are shown: they stay what they are for good. */
const SHOWN_DAYS = 7;
const DAY_MS = 86_400_000;
/** The pause between two readings while the page is visible. */
const EVERY_MS = 30_000;

/** The requests whose outcome is unknown, by their operation. */
const OPERATIONS: Readonly<Record<string, string>> = {
  CREATE_CARD_PAYMENT: 'Pagamento no cartão',
  CREATE_CHARGE: 'Cobrança',
  CREATE_DELIVERY: 'Conteúdo de produto',
  CREATE_PAYMENT: 'Pagamento',
  CREATE_SUBSCRIPTION: 'Assinatura',
  REFUND: 'Estorno',
  REQUEST_PAYOUT: 'Saque',
  REQUEST_SUBACCOUNT_PAYOUT: 'Saque de subconta',
  START_CHECKOUT: 'Pagamento no cartão',
  START_PIX_CHECKOUT: 'Pagamento por PIX',
  SUBMIT_DISPUTE_EVIDENCE: 'Defesa de disputa',
  TRANSFER_TO_SUBACCOUNT: 'Transferência a subconta',
};

/** A line of the list: how many of a kind there are, and the first of them. */
interface Task {
  name: string;
  title: string;
  count: string;
  hint: string;
  /** The page that shows them; null if there is none. */
  href: string | null;
  items: { id: string; text: string; at: string | null }[];
}

/** Lists what waits for a person: each kind with its number, and on a click the first of them. */
export class ConsoleTasks extends LitElement {
  static override properties = { api: { attribute: false }, tasks: { state: true }, failed: { state: true } };

  declare api: Api;
  declare tasks: Parts<Tasks> | null;
  declare failed: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;

  constructor() {
    super();
    this.tasks = null;
    this.failed = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.#read);
    void this.#read();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.#read);
    clearTimeout(this.#timer);
  }

  readonly #read = async (): Promise<void> => {
    if (document.hidden || this.#isReading || !this.isConnected) return;
    clearTimeout(this.#timer);
    this.#isReading = true;
    try {
      const since = new Date(this.api.now().getTime() - SHOWN_DAYS * DAY_MS).toISOString();
      this.tasks = await query<Tasks>(this.api, TASKS, { since });
      this.failed = false;
    } catch {
      this.failed = true;
    }
    this.#isReading = false;
    if (this.isConnected) this.#timer = setTimeout(this.#read, EVERY_MS);
  };

  protected override render(): TemplateResult {
    const tasks = this.tasks && listOf(this.tasks);
    return html`
      <h2>Precisa de você</h2>
      ${this.failed ? html`<p class="error" role="status">Não foi possível ler agora. A página tenta de novo sozinha.</p>` : nothing}
      ${tasks ? this.#renderTasks(tasks) : this.failed ? nothing : html`<p class="empty">Lendo…</p>`}
    `;
  }

  #renderTasks(tasks: readonly Task[]): TemplateResult {
    if (tasks.length === 0) return html`<p class="empty">Nada espera por você.</p>`;
    const now = this.api.now();
    return html`${tasks.map(
      ({ name, title, count, hint, href, items }) => html`<details class="task" data-task=${name}>
        <summary><span>${title}</span> <strong>${count}</strong></summary>
        <p class="hint">${hint} ${href === null ? nothing : html`<a data-page href=${href}>Abrir a lista</a>`}</p>
        <ul>
          ${items.map(
            ({ id, text, at }) => html`<li>
              <code>${id}</code> <span>${text}</span>
              ${at ? html`<time datetime=${at} title=${formatFull(new Date(at))}>${formatRelative(new Date(at), now)}</time>` : nothing}
            </li>`,
          )}
        </ul>
      </details>`,
    )}`;
  }
}

/** Lists the kinds that there are. A kind that could not be read, or may not be, is not among them. */
function listOf({ requestsInDoubt, disputes, webhookDeliveries, refunds }: Parts<Tasks>): Task[] {
  const tasks: Task[] = [];
  if (requestsInDoubt && requestsInDoubt.nodes.length > 0)
    tasks.push({
      name: 'doubts',
      title: 'Pedidos sem resposta',
      count: `${requestsInDoubt.nodes.length}${requestsInDoubt.pageInfo.hasNextPage ? '+' : ''}`,
      href: null,
      hint: 'Ainda não se sabe se foram feitos. Não repita um deles antes de saber.',
      items: requestsInDoubt.nodes.map(({ requestId, operation, amountCents, requestedAt }) => ({
        id: requestId,
        text: [OPERATIONS[operation] ?? 'Outro pedido', ...money(amountCents)].join(' · '),
        at: requestedAt,
      })),
    });
  if (disputes && disputes.totalCount > 0)
    tasks.push({
      name: 'disputes',
      title: 'Disputas que esperam defesa',
      count: String(disputes.totalCount),
      href: './disputes?statuses=OPEN&sort=due',
      hint: 'Sem defesa até o prazo, os bancos decidem sem ela.',
      items: disputes.nodes
        .map(({ disputeId, amountCents, evidenceDueAt }) => ({
          id: disputeId,
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
      href: './developers?status=EXHAUSTED',
      hint: `Nenhuma das tentativas foi aceita, nos últimos ${SHOWN_DAYS} dias.`,
      items: webhookDeliveries.nodes.map(({ webhookId, event, createdAt }) => ({
        id: webhookId,
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
      items: refunds.nodes.map(({ refundId, amountCents, failureReason, failedAt }) => ({
        id: refundId,
        text: [...money(amountCents), failureReason ?? ''].filter(Boolean).join(' · '),
        at: failedAt,
      })),
    });
  return tasks;
}

const money = (cents: number | null): string[] => (cents === null ? [] : [formatBrl(cents)]);

customElements.define('console-tasks', ConsoleTasks);
