/**
 * Parses the payload of a webhook; a text says why it is none. A character in its texts that Postgres cannot store is replaced, so that
 * no event is lost for it; the relayed body keeps it.
 */
export function parsePayload(body: string): Readonly<Record<string, unknown>> | string {
  let payload: unknown;
  try {
    payload = JSON.parse(body, (_, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\u0000', '\ufffd').toWellFormed() : value,
    );
  } catch {
    return 'The body is not JSON';
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return 'The body must be a JSON object';
  return payload as Record<string, unknown>;
}
