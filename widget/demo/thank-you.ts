import '../src/define.ts';
import { loadAccount } from './shared/account.ts';

// The element finds the payment again by itself: by the order code in the address, or by this tab's session storage.
const heading = document.querySelector('#title');
const message = document.querySelector('#message');
const checkout = document.querySelector('psa-checkout');

function setMessage(title: string, text: string): void {
  if (heading) heading.textContent = title;
  if (message) message.textContent = text;
}

checkout?.addEventListener('psa-paid', () =>
  setMessage('Obrigado!', 'Pagamento confirmado. Já estamos separando o seu pedido.'),
);
checkout?.addEventListener('psa-expired', () =>
  setMessage('O prazo passou.', 'Se você já pagou, a confirmação ainda pode chegar aqui.'),
);
checkout?.addEventListener('psa-failed', () =>
  setMessage('Não deu certo desta vez.', 'O pagamento não foi aprovado. Você pode tentar outra vez na loja.'),
);
checkout?.addEventListener('psa-refunded', () =>
  setMessage('Pagamento estornado.', 'O valor volta para quem pagou.'),
);
void loadAccount();

checkout?.updateComplete.then(() => {
  if (checkout.phase === 'idle' && !checkout.payment && checkout.connection === 'idle')
    setMessage(
      'Nenhum pagamento por aqui.',
      'Esta página acompanha o pagamento que começou na loja, nesta aba.',
    );
});
