// Everything that the dashboard shows: read once, then kept by what the subscriptions say.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { mostrarContaReal } from '../shared/conta-real.ts';
import {
  CARD_PAYMENT_UPDATES,
  type CardPayment,
  MORE_CARD_PAYMENTS,
  MORE_PAYOUTS,
  PAYOUT_UPDATES,
  type Page,
  type Payout,
  START,
  type StartData,
  SUBACCOUNT_NAMES,
  SUBACCOUNT_PAYOUT_UPDATES,
  type SubaccountPayout,
  WALLET_UPDATES,
  type Wallet,
  WEBHOOK_DELIVERIES,
  type WebhookDelivery,
} from './operations.ts';
import { type Acesso, abrirServidor, type Servidor } from './servidor.ts';

export type Ligacao = 'ligando' | 'ao-vivo' | 'religando' | 'sem-rede';

interface Versioned {
  version: number;
}

/** One list: what is known of it by key, and whether the server has older ones. */
interface Lista<Item> {
  itens: Map<string, Item>;
  mais: { hasNextPage: boolean; endCursor: string | null };
}

const DAY_MS = 86_400_000;
/** Of each list, so many pages are read for the chart of the day. */
const MAX_PAGES = 10;
/** Webhooks have no subscription: they are asked for after what causes them, and now and then. */
const DELIVERIES_AFTER_MS = 1_200;
const DELIVERIES_EVERY_MS = 20_000;
const DELIVERIES_PENDING_MS = 5_000;
const RESYNC_MS = 3_000;

export class PainelDados implements ReactiveController {
  fase: 'carregando' | 'pronto' | 'falhou' = 'carregando';
  ligacao: Ligacao = 'ligando';
  /** Until the server says that the account is a real one. */
  simulado = true;
  carteira: Wallet | null = null;
  /** What <psa-payouts> reads with, by itself. */
  acesso: Acesso | null = null;
  /** For the chart of the day. */
  saques: Lista<Payout> = vazia();
  cartoes: Lista<CardPayment> = vazia();
  repasses: Map<string, SubaccountPayout> = new Map();
  subcontas: Map<string, string> = new Map();
  entregas: WebhookDelivery[] = [];
  /** What has become of the connection in words, for who does not see the screen. */
  anuncio = '';

  readonly #host: ReactiveControllerHost;
  #servidor: Servidor | null = null;
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #deliveries: ReturnType<typeof setTimeout> | undefined;
  /** A socket is open and acknowledged. */
  #aberto = false;
  #wasLive = false;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    addEventListener('online', this.#online);
    addEventListener('offline', this.#offline);
    document.addEventListener('visibilitychange', this.#olharam);
    this.#abrir();
  }

  hostDisconnected(): void {
    removeEventListener('online', this.#online);
    removeEventListener('offline', this.#offline);
    document.removeEventListener('visibilitychange', this.#olharam);
    this.#fechar();
  }

  agora(): Date {
    return this.#servidor?.agora() ?? new Date();
  }

  /** Another token for the table of payouts. */
  renovar = (): Promise<string> => this.#servidor?.renovar() ?? Promise.reject(new Error('fechado'));

  /** Older card payments than those that are known. Never rejects. */
  async carregarMais(): Promise<void> {
    try {
      await this.#maisCartoes();
    } catch {
      this.anuncio = 'Não foi possível carregar mais agora.';
    }
    this.#host.requestUpdate();
  }

  tentarDeNovo(): void {
    this.#fechar();
    this.fase = 'carregando';
    this.#host.requestUpdate();
    this.#abrir();
  }

  // ── From the start to the streams ─────────────────────────────────────────────────────────────

  #abrir(): void {
    const servidor = abrirServidor(
      () => this.#ligar(servidor),
      () => this.#cair(servidor),
      (acesso) => {
        this.acesso = acesso;
        this.#host.requestUpdate();
      },
    );
    this.#servidor = servidor;
    void this.#comecar(servidor);
  }

  #fechar(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    clearTimeout(this.#deliveries);
    const servidor = this.#servidor;
    this.#servidor = null;
    servidor?.fechar();
  }

  async #comecar(servidor: Servidor): Promise<void> {
    try {
      this.simulado = await servidor.simulado();
      if (!this.simulado) mostrarContaReal();
      const start = await servidor.ler<StartData>(START);
      if (servidor !== this.#servidor) return;
      this.#receber(start);
      this.fase = 'pronto';
      this.#host.requestUpdate();
      this.#seguir(servidor, start.updatesCursor);
      await this.#carregarODia();
      this.#pedirEntregas(DELIVERIES_EVERY_MS);
    } catch {
      if (servidor !== this.#servidor) return;
      // What is shown already stays; only an empty page says that it failed.
      if (this.fase === 'carregando') this.fase = 'falhou';
      this.#recomecar();
    }
    this.#host.requestUpdate();
  }

  #receber(start: StartData): void {
    this.carteira = start.wallet;
    this.saques.mais = start.payouts.pageInfo;
    this.cartoes.mais = start.cardPayments.pageInfo;
    juntar(this.saques.itens, start.payouts.nodes, (payout) => payout.id);
    juntar(this.cartoes.itens, start.cardPayments.nodes, (payment) => payment.orderCode);
    for (const { subaccountId, name, payouts } of start.subaccounts.nodes) {
      this.subcontas.set(subaccountId, name ?? subaccountId);
      juntar(this.repasses, payouts.nodes, (payout) => payout.id);
    }
    this.entregas = start.webhookDeliveries.nodes;
  }

  #seguir(servidor: Servidor, cursor: string): void {
    const perdeu = () => {
      if (servidor === this.#servidor) this.#recomecar();
    };
    const seguir = <Update extends { cursor: string; occurredAt: string }>(
      query: string,
      after: string | null,
      recebeu: (update: Update) => void,
    ) =>
      servidor.seguir<Update>(
        query,
        after,
        (update) => {
          servidor.viu(update.occurredAt);
          recebeu(update);
          this.#host.requestUpdate();
        },
        perdeu,
      );

    // Its state comes first, so it needs no cursor to begin with.
    seguir<{ cursor: string; occurredAt: string; wallet: Wallet }>(WALLET_UPDATES, null, ({ wallet }) => {
      this.carteira = wallet;
    });
    seguir<{ cursor: string; occurredAt: string; payout: Payout }>(PAYOUT_UPDATES, cursor, ({ payout }) => {
      juntar(this.saques.itens, [payout], (each) => each.id);
      this.#pedirEntregas(DELIVERIES_AFTER_MS);
    });
    seguir<{ cursor: string; occurredAt: string; subaccountPayout: SubaccountPayout }>(
      SUBACCOUNT_PAYOUT_UPDATES,
      cursor,
      ({ subaccountPayout }) => {
        juntar(this.repasses, [subaccountPayout], (each) => each.id);
        if (!this.subcontas.has(subaccountPayout.subaccountId)) void this.#nomear();
        this.#pedirEntregas(DELIVERIES_AFTER_MS);
      },
    );
    seguir<{ cursor: string; occurredAt: string; cardPayment: CardPayment }>(
      CARD_PAYMENT_UPDATES,
      cursor,
      ({ cardPayment }) => {
        juntar(this.cartoes.itens, [cardPayment], (each) => each.orderCode);
        this.#pedirEntregas(DELIVERIES_AFTER_MS);
      },
    );
  }

  /** A stream has ended that nothing can resume: the lists are read anew, and followed from there. */
  #recomecar(): void {
    this.ligacao = navigator.onLine ? 'religando' : 'sem-rede';
    this.#fechar();
    this.#depois(RESYNC_MS, () => this.#abrir());
    this.#host.requestUpdate();
  }

  // ── The day, and more of the past ─────────────────────────────────────────────────────────────

  async #carregarODia(): Promise<void> {
    // One day more than today: what was requested before midnight may have ended after it.
    const since = this.agora().setHours(0, 0, 0, 0) - DAY_MS;
    const reaches = (times: (string | null)[]) => times.some((at) => at !== null && Date.parse(at) < since);
    for (let page = 1; page < MAX_PAGES && this.saques.mais.hasNextPage; page += 1) {
      if (reaches([...this.saques.itens.values()].map(({ requestedAt }) => requestedAt))) break;
      await this.#maisSaques();
    }
    for (let page = 1; page < MAX_PAGES && this.cartoes.mais.hasNextPage; page += 1) {
      if (reaches([...this.cartoes.itens.values()].map(({ createdAt }) => createdAt))) break;
      await this.#maisCartoes();
    }
  }

  async #maisSaques(): Promise<void> {
    const { payouts } = await this.#ler<{ payouts: Page<Payout> }>(MORE_PAYOUTS, {
      after: this.saques.mais.endCursor,
    });
    juntar(this.saques.itens, payouts.nodes, (payout) => payout.id);
    this.saques.mais = payouts.pageInfo;
  }

  async #maisCartoes(): Promise<void> {
    const { cardPayments } = await this.#ler<{ cardPayments: Page<CardPayment> }>(MORE_CARD_PAYMENTS, {
      after: this.cartoes.mais.endCursor,
    });
    juntar(this.cartoes.itens, cardPayments.nodes, (payment) => payment.orderCode);
    this.cartoes.mais = cardPayments.pageInfo;
  }

  async #nomear(): Promise<void> {
    try {
      const { subaccounts } = await this.#ler<{
        subaccounts: { nodes: { subaccountId: string; name: string | null }[] };
      }>(SUBACCOUNT_NAMES);
      for (const { subaccountId, name } of subaccounts.nodes)
        this.subcontas.set(subaccountId, name ?? subaccountId);
      this.#host.requestUpdate();
    } catch {
      // The id stands in its place.
    }
  }

  // ── Webhooks ──────────────────────────────────────────────────────────────────────────────────

  #pedirEntregas(afterMs: number): void {
    clearTimeout(this.#deliveries);
    this.#deliveries = setTimeout(() => void this.#lerEntregas(), afterMs);
  }

  async #lerEntregas(): Promise<void> {
    try {
      if (!document.hidden) {
        const { webhookDeliveries } = await this.#ler<{ webhookDeliveries: { nodes: WebhookDelivery[] } }>(
          WEBHOOK_DELIVERIES,
        );
        this.entregas = webhookDeliveries.nodes;
        this.#host.requestUpdate();
      }
    } catch {
      // The next time.
    }
    const waiting = this.entregas.some(({ status }) => status === 'PENDING');
    if (this.#servidor) this.#pedirEntregas(waiting ? DELIVERIES_PENDING_MS : DELIVERIES_EVERY_MS);
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────

  #ligar(servidor: Servidor): void {
    if (servidor !== this.#servidor) return;
    if (this.#wasLive && this.ligacao !== 'ao-vivo') this.anuncio = 'Conexão restabelecida.';
    this.#wasLive = true;
    this.#aberto = true;
    this.ligacao = 'ao-vivo';
    this.#host.requestUpdate();
  }

  #cair(servidor: Servidor): void {
    if (servidor !== this.#servidor) return;
    this.#aberto = false;
    const offline = !navigator.onLine;
    const next: Ligacao = offline ? 'sem-rede' : this.#wasLive ? 'religando' : 'ligando';
    // A socket that is changed for a new one is back in a moment: nothing to alarm anybody with.
    this.#depois(offline ? 0 : 800, () => {
      if (servidor !== this.#servidor || this.#aberto) return;
      this.ligacao = next;
      this.#host.requestUpdate();
    });
  }

  readonly #online = () => {
    if (this.ligacao === 'sem-rede') this.ligacao = 'religando';
    this.#servidor?.acordar();
    this.#host.requestUpdate();
  };
  readonly #offline = () => {
    this.ligacao = 'sem-rede';
    this.#aberto = false;
    this.#servidor?.soltar();
    this.#host.requestUpdate();
  };
  readonly #olharam = () => {
    if (document.hidden) return;
    this.#servidor?.acordar();
    if (this.fase === 'pronto') this.#pedirEntregas(0);
  };

  #ler<Data>(query: string, variables?: Record<string, unknown>): Promise<Data> {
    return this.#servidor?.ler<Data>(query, variables) ?? Promise.reject(new Error('fechado'));
  }

  #depois(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}

function vazia<Item>(): Lista<Item> {
  return { itens: new Map(), mais: { hasNextPage: false, endCursor: null } };
}

/** Puts items in by their key; of two states of one the larger version is kept. */
function juntar<Item extends Versioned>(
  itens: Map<string, Item>,
  novos: readonly Item[],
  keyOf: (item: Item) => string,
): void {
  for (const item of novos) {
    const known = itens.get(keyOf(item));
    if (!known || known.version < item.version) itens.set(keyOf(item), item);
  }
}
