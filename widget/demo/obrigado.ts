import '../src/define.ts';
import { mostrarContaReal } from './shared/conta-real.ts';

// The element finds the payment again by itself: by the order code in the address, or by what this tab remembers.
const titulo = document.querySelector('#titulo');
const texto = document.querySelector('#texto');
const checkout = document.querySelector('psa-checkout');

function dizer(cabeca: string, corpo: string): void {
  if (titulo) titulo.textContent = cabeca;
  if (texto) texto.textContent = corpo;
}

checkout?.addEventListener('psa-paid', () =>
  dizer('Obrigado!', 'Pagamento confirmado pelo servidor. Já estamos separando o seu pedido.'),
);
checkout?.addEventListener('psa-expired', () =>
  dizer('O prazo passou.', 'Se você já pagou, a confirmação ainda pode chegar aqui.'),
);
checkout?.addEventListener('psa-failed', () =>
  dizer('Não deu certo desta vez.', 'O pagamento não foi aprovado. Você pode tentar outra vez na loja.'),
);
checkout?.addEventListener('psa-refunded', () =>
  dizer('Pagamento estornado.', 'O valor volta para o cartão.'),
);
void fetch('/demo/config.json')
  .then((response) => response.json())
  .then(({ simulated }: { simulated: boolean }) => simulated || mostrarContaReal())
  // The receipt needs nothing of it.
  .catch(() => undefined);

checkout?.updateComplete.then(() => {
  if (checkout.phase === 'idle' && !checkout.payment && checkout.connection === 'idle')
    dizer('Nenhum pagamento por aqui.', 'Esta página acompanha o pagamento que começou na loja, nesta aba.');
});
