// The page plays the server, so that the gallery shows each state by what the element itself makes of it: no server, no
// network, no window, nothing kept, and a clock that stands still.
import type { CardPayment } from '../../src/psa-checkout.ts';

/** What the played server says to one element. */
export interface Papel {
  /** What it knows of the payment, beside what every payment of the gallery has. */
  pagamento?: Partial<CardPayment>;
  /** What a click gets in place of the payment: no answer, no network, or a refusal. */
  clique?: 'espera' | 'sem-rede' | { __typename: string; code: string; retryAfterSeconds?: number };
  /** How the payment is told on: `espera` never answers, `cai` ends after its first word, `cala` stays and says no more. */
  linha?: 'espera' | 'cai' | 'cala';
}

export const ENDERECO = '/demo/gallery/graphql';

const papeis = new Map<string, { papel: Papel; pagamento: CardPayment; ligacoes: number }>();
const FINAIS = ['PAID', 'FAILED', 'REFUNDED'];

/** Gives an element its part. @returns the order code under which the payment can be followed */
export function dar(token: string, papel: Papel): string {
  const orderCode = `PSC-TKDQ8J76ZGXA6VWCSTP6${1001 + papeis.size}`;
  const pagamento: CardPayment = {
    orderCode,
    status: 'PENDING',
    amountCents: 18_900,
    currency: 'BRL',
    checkoutUrl: new URL('/demo/gallery', location.href).href,
    expiresAt: '2031-01-01T12:00:00.000Z',
    expiresInSeconds: 1694,
    description: null,
    paidAt: null,
    paidLate: false,
    refundedAt: null,
    failureReason: null,
    version: 1,
    ...papel.pagamento,
  };
  papeis.set(token, { papel, pagamento, ligacoes: 0 });
  return orderCode;
}

const rede = globalThis.fetch;
globalThis.fetch = (alvo, opcoes) =>
  String(alvo).endsWith(ENDERECO) ? responder(opcoes ?? {}) : rede(alvo, opcoes);
globalThis.open = () => null;
performance.now = () => 0;
// The shop's pages lie at the same origin, and must not find the gallery's payments.
for (const name of ['sessionStorage', 'localStorage'])
  Object.defineProperty(globalThis, name, {
    get: () => {
      throw new DOMException('The gallery keeps nothing', 'SecurityError');
    },
  });

function responder({ headers, body, signal }: RequestInit): Promise<Response> {
  const token = (headers as Record<string, string>).authorization?.replace('Bearer ', '') ?? '';
  const atuacao = papeis.get(token);
  const { query } = JSON.parse(String(body)) as { query: string };
  const { papel, pagamento } = atuacao ?? {};
  if (!atuacao || !papel || !pagamento)
    return contar({ errors: [{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }] });
  if (query.startsWith('mutation')) {
    if (papel.clique === 'espera') return calar();
    if (papel.clique === 'sem-rede') return Promise.reject(new TypeError('Failed to fetch'));
    return contar({
      data: {
        startCheckout: papel.clique
          ? { message: 'no', ...papel.clique }
          : { __typename: 'StartCheckoutSuccess', cardPayment: pagamento, paymentToken: token },
      },
    });
  }
  if (papel.linha === 'espera') return calar();
  if (query.startsWith('query')) return contar({ data: { cardPayment: pagamento } });
  if (papel.linha === 'cai' && atuacao.ligacoes++ > 0) return calar();
  return Promise.resolve(new Response(fluxo(pagamento, papel, signal), EVENTOS));
}

const EVENTOS = { headers: { 'content-type': 'text/event-stream' } };

function contar(answer: object): Promise<Response> {
  return Promise.resolve(Response.json(answer));
}

/** Not even an abort is heard: what waits, waits as long as the page is looked at. */
function calar(): Promise<Response> {
  return new Promise(() => undefined);
}

function fluxo(cardPayment: CardPayment, { linha }: Papel, signal?: AbortSignal | null): ReadableStream {
  const bytes = new TextEncoder();
  const update = { data: { cardPaymentUpdates: { cursor: 'c1', cardPayment } } };
  let pulso: ReturnType<typeof setInterval>;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.encode(`event: next\ndata: ${JSON.stringify(update)}\n\n`));
      if (linha === 'cai' || FINAIS.includes(cardPayment.status)) return controller.close();
      if (linha === 'cala') return;
      // A line on which nothing is heard for long is taken for dead.
      pulso = setInterval(() => controller.enqueue(bytes.encode(':\n\n')), 12_000);
      signal?.addEventListener('abort', () => {
        clearInterval(pulso);
        controller.error(signal.reason);
      });
    },
    cancel: () => clearInterval(pulso),
  });
}
