// The payers that do something by themselves, by the customer's e-mail, as the page documents them.

export const PAYERS: { email: string; effect: string }[] = [
  { email: 'paga@psa.example', effect: 'Paga sozinho, depois de 3 segundos.' },
  { email: 'paga-tarde@psa.example', effect: 'Paga um minuto depois do prazo.' },
  { email: 'paga-duas@psa.example', effect: 'Paga duas vezes; a segunda volta.' },
  { email: 'paga-outro@psa.example', effect: 'Paga um centavo a mais, que volta inteiro.' },
  { email: 'sem-codigo@psa.example', effect: 'O banco recusa a cobrança: não há código.' },
  { email: 'demora-codigo@psa.example', effect: 'O banco só dá o código depois de 15 segundos.' },
  { email: 'devolve-falha@psa.example', effect: 'O banco recusa todo estorno e toda devolução.' },
  { email: 'devolve-depois@psa.example', effect: 'O banco devolve 5 segundos depois do pedido.' },
  { email: 'contesta@psa.example', effect: 'Contesta um minuto depois de pagar; ninguém decide.' },
  { email: 'contesta-ganha@psa.example', effect: 'Contesta, e você ganha sete dias depois.' },
  { email: 'contesta-perde@psa.example', effect: 'Contesta, e você perde sete dias depois.' },
  { email: 'nega@psa.example', effect: 'O banco recusa toda cobrança de uma assinatura, menos a primeira.' },
  { email: 'nega-uma@psa.example', effect: 'O banco recusa a primeira tentativa de cada cobrança.' },
];
