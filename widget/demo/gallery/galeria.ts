import '../../src/define.ts';
import type { PsaCheckout } from '../../src/psa-checkout.ts';
import { dar, ENDERECO } from './ensaio.ts';
import { ESTADOS, type Estado } from './estados.ts';

const TEMAS: Record<string, [titulo: string, resumo: string]> = {
  padrao: ['Padrão', 'Como o elemento vem, sem uma linha de CSS.'],
  armazem: ['Armazém', 'Uma loja de bairro: papel, barro e botões redondos.'],
  noturno: ['Noturno', 'Um produto de software: preto, cal e cantos curtos.'],
  custodia: ['Custódia', 'Um banco: azul-marinho, serifa e linhas retas.'],
};

const form = document.querySelector('form');
const galeria = document.querySelector<HTMLElement>('#galeria');
const elementos: PsaCheckout[] = [];

void abrir();

async function abrir(): Promise<void> {
  lembrar();
  form?.addEventListener('change', mostrar);
  // There is no payment page behind the links.
  galeria?.addEventListener('click', (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    if (link) event.preventDefault();
  });
  galeria?.addEventListener('psa-before-redirect', (event) => event.preventDefault());
  for (const tema of Object.keys(TEMAS)) galeria?.append(secao(tema));
  mostrar();
  // All that are on a line lose it, and only then come the others.
  await porTodos((estado) => estado.nome === 'sem-conexao');
  dispatchEvent(new Event('offline'));
  for (const estado of ESTADOS.filter(({ nome }) => nome === 'cancelado'))
    for (const tema of Object.keys(TEMAS)) await por(tema, estado);
  await porTodos((estado) => !['sem-conexao', 'cancelado'].includes(estado.nome));
  galeria?.setAttribute('data-pronta', '');
}

function secao(tema: string): Element {
  const [titulo = '', resumo = ''] = TEMAS[tema] ?? [];
  const section = elemento('section', `tema tema-${tema}`);
  section.id = tema;
  section.setAttribute('aria-labelledby', `titulo-${tema}`);
  const cabeca = elemento('h2', '', titulo);
  cabeca.id = `titulo-${tema}`;
  section.append(cabeca, elemento('p', 'resumo', resumo));
  const quadros = elemento('div', 'quadros');
  for (const estado of ESTADOS) {
    const quadro = elemento('div', 'quadro');
    quadro.dataset.estado = estado.nome;
    quadro.append(elemento('h3', '', estado.titulo));
    quadros.append(quadro);
  }
  section.append(quadros);
  return section;
}

/** Puts the elements of these states into their frames, in every theme, and brings each into its state. */
async function porTodos(quais: (estado: Estado) => boolean): Promise<void> {
  const chegadas: Promise<unknown>[] = [];
  for (const estado of ESTADOS.filter(quais))
    for (const tema of Object.keys(TEMAS)) chegadas.push(por(tema, estado));
  await Promise.all(chegadas);
}

async function por(tema: string, estado: Estado): Promise<void> {
  const checkout = document.createElement('psa-checkout');
  const token = `${tema}-${estado.nome}`;
  const orderCode = dar(token, estado.papel ?? {});
  Object.assign(checkout, {
    endpoint: ENDERECO,
    token,
    resumeKey: token,
    transport: 'sse',
    mode: 'redirect',
  });
  if (estado.via === 'retorno') Object.assign(checkout, { orderCode, paymentToken: token });
  Object.assign(checkout, estado.com);
  checkout.locale = escolha('idioma');
  checkout.append(rotulo());
  elementos.push(checkout);
  const chegou = estado.via ? chegada(checkout, estado) : undefined;
  if (estado.nome === 'cancelado')
    history.replaceState(null, '', `${location.search || '?'}&psa_order_code=${orderCode}&psa_cancelled=1`);
  document.querySelector(`#${tema} [data-estado=${estado.nome}]`)?.append(checkout);
  await checkout.updateComplete;
  if (estado.nome === 'cancelado') guardar();
  if (estado.via === 'clique') void checkout.start();
  await chegou;
}

/** Resolves once nothing more is to come: what is waited for without end counts as come. */
function chegada(checkout: PsaCheckout, { papel, via }: Estado): Promise<unknown> | undefined {
  if (papel?.clique === 'espera' || papel?.linha === 'espera') return undefined;
  const evento =
    papel?.linha === 'cai'
      ? 'psa-connection-change'
      : via === 'clique'
        ? 'psa-phase-change'
        : 'psa-status-change';
  return new Promise((resolve) => {
    checkout.addEventListener(evento, function ouvir(event) {
      const { connection, phase } = (event as CustomEvent).detail;
      if (connection && connection !== 'reconnecting') return;
      if (phase === 'creating') return;
      checkout.removeEventListener(evento, ouvir);
      resolve(checkout.updateComplete);
    });
  });
}

function mostrar(): void {
  const tema = escolha('tema');
  for (const section of galeria?.querySelectorAll<HTMLElement>('.tema') ?? [])
    section.hidden = tema !== 'todos' && section.id !== tema;
  document.documentElement.dataset.aparencia = escolha('aparencia');
  if (galeria) {
    galeria.dataset.largura = escolha('largura');
    galeria.dir = escolha('direcao');
  }
  for (const checkout of elementos) {
    checkout.locale = escolha('idioma');
    checkout.replaceChildren(rotulo());
  }
  guardar();
}

/** The address says what is shown, so that a view can be sent to somebody. */
function guardar(): void {
  const data = new FormData(form ?? undefined) as unknown as Iterable<[string, string]>;
  history.replaceState(null, '', `?${new URLSearchParams([...data])}`);
}

function lembrar(): void {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const campo = form?.querySelector<HTMLInputElement>(
      `input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`,
    );
    if (campo) campo.checked = true;
  }
}

function escolha(nome: string): string {
  return String(new FormData(form ?? undefined).get(nome));
}

function rotulo(): string {
  const verbo = { en: 'Pay', es: 'Pagar' }[escolha('idioma')] ?? 'Pagar';
  const valor = new Intl.NumberFormat(escolha('idioma'), {
    style: 'currency',
    currency: 'BRL',
    currencyDisplay: 'narrowSymbol',
  }).format(189);
  return `${verbo} ${valor}`;
}

function elemento(tag: string, classe: string, texto = ''): HTMLElement {
  const element = document.createElement(tag);
  if (classe) element.className = classe;
  if (texto) element.textContent = texto;
  return element;
}
