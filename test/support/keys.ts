let made = 0;

/** An idempotency key that no other request of the test has. */
export function newKey(): string {
  made += 1;
  return `key-${made}`;
}
