/** The mode of a database: the ledger of a service itself, or the mirror of the service behind a facade. */
export type Mode = { kind: 'embedded' } | { kind: 'remote'; upstreamOrigin: string };

/** An error that the operator has to correct: the message says how. */
export class ModeError extends Error {
  override readonly name = 'ModeError';
}

/**
 * Refuses to mix the ledger of one service with the reports of another.
 * @throws ModeError if a database of one mode, or of one service, is started as another's
 */
export function assertSameMode(stored: Mode, configured: Mode): void {
  if (stored.kind === 'embedded') {
    if (configured.kind === 'embedded') return;
    throw new ModeError(
      `The database holds an embedded service's own books: with PSA_UPSTREAM_URL ${ANOTHER}, or unset PSA_UPSTREAM_URL`,
    );
  }
  const service = `The database is of a server in front of ${stored.upstreamOrigin}`;
  if (configured.kind === 'embedded')
    throw new ModeError(`${service}: set PSA_UPSTREAM_URL as well, or, for a service of its own, ${ANOTHER}`);
  if (configured.upstreamOrigin !== stored.upstreamOrigin)
    throw new ModeError(`${service}, and PSA_UPSTREAM_URL names ${configured.upstreamOrigin}: ${ANOTHER}`);
}

const ANOTHER = 'choose another PSA_DATA_DIR or DATABASE_URL';
