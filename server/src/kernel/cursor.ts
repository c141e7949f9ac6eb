/** Opaque to a client: a place in a list or in a log, which both count in whole numbers. */
export function encodeCursor(place: number): string {
  return Buffer.from(`v1:${place}`).toString('base64url');
}

/** Null for what this server never gave out. */
export function decodeCursor(cursor: string): number | null {
  const match = /^v1:(0|[1-9][0-9]{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const place = match ? Number(match[1]) : Number.NaN;
  return Number.isSafeInteger(place) && encodeCursor(place) === cursor ? place : null;
}
