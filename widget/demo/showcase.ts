import type { Plugin } from 'vite';
import { artwork } from './artwork.ts';
import products from './products.json' with { type: 'json' };

const DESCRIPTIONS: Record<string, string> = {
  caneca: 'Cerâmica de alta temperatura, 300 ml, pintada à mão com a serra ao amanhecer.',
  cafe: 'Catuaí amarelo de altitude, torra média. Notas de caramelo, laranja e cacau.',
  rede: 'Algodão cru tecido no tear, franja de crochê. Aguenta dois adultos e uma tarde inteira.',
};

const brl = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** Writes the product cards into the shop's page at build time, so that no layout shifts after it has loaded. */
export function showcase(): Plugin {
  return {
    name: 'showcase',
    transformIndexHtml: (html) => html.replace('<!-- showcase -->', products.map(productCard).join('')),
  };
}

// The buttons are disabled until shop.ts has set its token. Both tokens of a product share one resume key: switching the
// mode must not hide a payment that is in progress.
function productCard({ sku, name, priceCents }: (typeof products)[number]): string {
  const price = brl.format(priceCents / 100);
  return `
          <article class="product">
            <div class="frame frame-${sku}">${artwork(sku)}</div>
            <div class="details">
              <div class="heading"><h2>${name}</h2><p class="price">${price}</p></div>
              <p class="description">${DESCRIPTIONS[sku]}</p>
              <psa-checkout id="${sku}" endpoint="/graphql" methods="pix card" resume-key="varanda-${sku}" disabled>Pagar ${price}</psa-checkout>
            </div>
          </article>`;
}
