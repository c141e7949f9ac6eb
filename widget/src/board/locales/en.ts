export const shared = {
  connecting: 'Connecting…',
  live: 'Live',
  polling: 'Updating',
  reconnecting: 'Reconnecting…',
  offline: 'Offline',
  stale: 'No contact with the service',
  keyRefused: 'The service has refused the key',
  asOf: ', as of {age}',
  loading: 'Loading…',
  retry: 'Try again',
  network: 'We could not connect.',
  server: 'Something went wrong on our side.',
};
