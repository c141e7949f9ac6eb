export const shared = {
  connecting: 'Conectando…',
  live: 'En vivo',
  polling: 'Actualizando',
  reconnecting: 'Reconectando…',
  offline: 'Sin conexión',
  stale: 'Sin contacto con el servicio',
  keyRefused: 'El servicio rechazó la clave',
  asOf: ', de {age}',
  loading: 'Cargando…',
  retry: 'Intentar otra vez',
  network: 'No pudimos conectar.',
  server: 'Algo no funcionó de nuestro lado.',
};
