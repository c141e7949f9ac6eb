import { html } from './html.ts';
import { ICONS } from './icons.ts';
import { notice, page, type Site } from './layout.ts';

/** The page of a refused request or an internal error, in the look of the others. */
export function problemPage(site: Site, status: number, paymentUrl: string | null): string {
  const [title, text] = PROBLEMS[status] ?? PROBLEMS_ELSE;
  const link =
    paymentUrl !== null &&
    html`<p class="actions"><a class="button" href="${paymentUrl}">Ver este pagamento</a></p>`;
  return page(site, {
    title,
    state: 'problem',
    summary: null,
    main: notice({
      icon: status === 404 ? ICONS.search : ICONS.alert,
      tone: 'neutral',
      title,
      body: html`<p>${text}</p>${link}`,
    }),
  });
}

const PROBLEMS_ELSE = [
  'Algo deu errado',
  'Pode ser que o pagamento tenha sido feito mesmo assim. Veja a situação dele antes de tentar de novo.',
] as const;
const PROBLEMS: Record<number, readonly [title: string, text: string]> = {
  400: ['Envio incompleto', 'Os dados não chegaram inteiros. Nada foi cobrado: volte e tente de novo.'],
  403: ['Envio recusado', 'O formulário não foi enviado por esta página. Nada foi cobrado.'],
  404: ['Pagamento não encontrado', 'Confira o endereço ou peça um novo link à loja.'],
  413: ['Envio recusado', 'Os dados enviados são grandes demais. Nada foi cobrado.'],
  415: ['Envio recusado', 'O formulário veio em um formato que esta página não aceita. Nada foi cobrado.'],
  429: [
    'Aguarde um instante',
    'Vieram muitos pedidos desta rede. Nada foi cobrado agora: tente de novo em um minuto.',
  ],
};
