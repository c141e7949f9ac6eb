/**
 * Parses the payload of a webhook; returns a text with the reason if it is not one. Characters that Postgres cannot
 * store are replaced, so that no event is lost; the relayed body keeps them.
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
