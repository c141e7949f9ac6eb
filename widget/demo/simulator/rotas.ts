// The routes behind the page, as it documents them.

export const ROTAS: { rota: string; corpo: string; faz: string }[] = [
  { rota: 'GET /simulator/state', corpo: '?account=&environment=', faz: 'Tudo o que esta página mostra.' },
  {
    rota: 'POST /simulator/credit',
    corpo: '{ "amountCents": 100000 } ou { "litoshi": 50000000 }',
    faz: 'Credita a carteira.',
  },
  {
    rota: 'POST /simulator/transfers/{id}/settle',
    corpo: '{}',
    faz: 'Conclui agora. O id é o withdrawalId do saque.',
  },
  {
    rota: 'POST /simulator/transfers/{id}/deny',
    corpo: '{ "reason": "…" }',
    faz: 'Nega agora; o valor volta.',
  },
  {
    rota: 'POST /simulator/transfers/{id}/delay',
    corpo: '{ "seconds": 600 }',
    faz: 'Adia por tantos segundos, a contar de agora.',
  },
  {
    rota: 'POST /simulator/card-payments/{orderCode}/refund',
    corpo: '{}',
    faz: 'Estorna um pagamento pago.',
  },
  {
    rota: 'POST /simulator/disputes',
    corpo: '{ "amountCents": 5000 }',
    faz: 'Abre uma disputa, que retém o valor.',
  },
  {
    rota: 'POST /simulator/disputes/{id}/close',
    corpo: '{ "outcome": "won" }',
    faz: 'Encerra: won, lost ou forgiven.',
  },
  {
    rota: 'POST /simulator/test-payments/{id}/settle',
    corpo: '{ "environment": "sandbox" }',
    faz: 'Paga um pagamento de teste pendente.',
  },
  {
    rota: 'POST /simulator/clock',
    corpo: '{ "seconds": 3600 } ou { "to": "next" }',
    faz: 'Adianta o relógio do servidor.',
  },
];
