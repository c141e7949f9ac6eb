import type { Plugin } from 'vite';
import { arte } from './arte.ts';
import products from './products.json' with { type: 'json' };

const DESCRICOES: Record<string, string> = {
  caneca: 'Cerâmica de alta temperatura, 300 ml, pintada à mão com a serra ao amanhecer.',
  cafe: 'Catuaí amarelo de altitude, torra média. Notas de caramelo, laranja e cacau.',
  rede: 'Algodão cru tecido no tear, franja de crochê. Aguenta dois adultos e uma tarde inteira.',
};

const reais = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** Writes the shelf into the page while it is built, so that nothing moves once the page is there. */
export function vitrine(): Plugin {
  return {
    name: 'vitrine',
    transformIndexHtml: (html) => html.replace('<!-- vitrine -->', products.map(cartao).join('')),
  };
}

// Disabled until loja.ts has brought its token. One key for both of the product's tokens: switching the mode must not
// hide a payment that is under way.
function cartao({ sku, name, priceCents }: (typeof products)[number]): string {
  const preco = reais.format(priceCents / 100);
  return `
          <article class="produto">
            <div class="quadro quadro-${sku}">${arte(sku)}</div>
            <div class="corpo">
              <div class="nome"><h2>${name}</h2><p class="preco">${preco}</p></div>
              <p class="descricao">${DESCRICOES[sku]}</p>
              <psa-checkout id="${sku}" endpoint="/graphql" resume-key="varanda-${sku}" disabled>Pagar ${preco}</psa-checkout>
            </div>
          </article>`;
}
