// The simulator's routes, as its page documents them.

export const ROUTES: { route: string; body: string; effect: string }[] = [
  { route: 'GET /simulator/state', body: '?account=&environment=', effect: 'Tudo o que esta página mostra.' },
  {
    route: 'POST /simulator/credit',
    body: '{ "amountCents": 100000 } ou { "litoshi": 50000000 }',
    effect: 'Credita a carteira.',
  },
  {
    route: 'POST /simulator/transfers/{id}/settle',
    body: '{}',
    effect: 'Conclui agora. O id é o withdrawalId do saque.',
  },
  {
    route: 'POST /simulator/transfers/{id}/deny',
    body: '{ "reason": "…" }',
    effect: 'Nega agora; o valor volta.',
  },
  {
    route: 'POST /simulator/transfers/{id}/return',
    body: '{}',
    effect: 'Devolve um PIX que já chegou; o valor volta à carteira.',
  },
  {
    route: 'POST /simulator/transfers/{id}/delay',
    body: '{ "seconds": 600 }',
    effect: 'Adia por tantos segundos, a contar de agora.',
  },
  {
    route: 'POST /simulator/card-payments/{orderCode}/refund',
    body: '{}',
    effect: 'Estorna um pagamento pago.',
  },
  {
    route: 'POST /simulator/disputes',
    body: '{ "amountCents": 5000 } ou { "id": "psa_…", "amountCents": 4990, "reason": "fraud" }',
    effect: 'Abre uma disputa, que retém o valor: de um pagamento pago, ou de nenhum.',
  },
  {
    route: 'POST /simulator/disputes/{id}/close',
    body: '{ "outcome": "won" }',
    effect: 'Encerra: won, lost ou forgiven.',
  },
  {
    route: 'POST /simulator/test-payments/{id}/settle',
    body: '{ "environment": "sandbox" }',
    effect: 'Paga um pagamento de teste pendente.',
  },
  {
    route: 'POST /simulator/pix/pay',
    body: '{ "copyPaste": "000201…" } ou { "id": "psa_…", "amountCents": 4991 }',
    effect: 'Paga um PIX como o banco do pagador. Com um endToEndId já usado é o mesmo PIX.',
  },
  {
    route: 'POST /simulator/pix/returns',
    body: '{ "id": "psa_…", "returns": "refused" }',
    effect: 'O banco recusa devolver o dinheiro de um pagamento; com accepted, volta a devolver.',
  },
  {
    route: 'POST /simulator/ltc/{address}',
    body: '{ "litoshi": 8149068, "confirmations": 0 }, { "blocks": 2 } ou { "reorganise": "<txid>" }',
    effect: 'Envia LTC para um endereço, minera blocos sobre o que chegou, ou tira uma saída da rede.',
  },
  {
    route: 'POST /simulator/store',
    body: '{ "products": [{ "id": "1", "name": "Caneca", "price": "49,90" }] }',
    effect: 'Troca todos os produtos da loja da plataforma de conversas.',
  },
  {
    route: 'POST /simulator/subscriptions/{id}/authorise',
    body: '{}',
    effect: 'O pagador autoriza e paga o primeiro ciclo; com reject, rejeita; com cancel, cancela depois.',
  },
  {
    route: 'POST /simulator/subscriptions/{id}/fail',
    body: '{}',
    effect: 'O banco recusa a próxima cobrança; com debit, paga agora.',
  },
  {
    route: 'POST /simulator/clock',
    body: '{ "seconds": 3600 } ou { "to": "next" }',
    effect: 'Adianta o relógio do servidor.',
  },
];
