export const shared = {
  connecting: 'Conectando…',
  live: 'Ao vivo',
  polling: 'Atualizando',
  reconnecting: 'Reconectando…',
  offline: 'Sem conexão',
  stale: 'Sem contato com o serviço',
  keyRefused: 'O serviço recusou a chave',
  asOf: ', de {age}',
  loading: 'Carregando…',
  retry: 'Tentar de novo',
  network: 'Não conseguimos conectar.',
  server: 'Algo falhou do nosso lado.',
};
