/**
 * Builds the address to which the payer returns: the merchant's, with the payment's identifier, by which the shop finds
 * it.
 */
export function returnUrl(
  merchantUrl: string | null,
  params: Readonly<Partial<Record<'psa_order_code' | 'psa_payment_id' | 'psa_cancelled', string>>>,
): string | null {
  const url = webAddress(merchantUrl);
  if (url === null) return null;
  for (const [name, value] of Object.entries(params)) {
    if (url.searchParams.has(name)) url.searchParams.delete(name);
    // Appended as text: URLSearchParams would re-encode the merchant's own parameters.
    url.search = `${url.search}${url.search === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return url.href;
}

/**
 * Formats an origin as a source in a Content-Security-Policy. A host name may contain `;` and `,`, which would end a
 * directive or a policy: such a host gives null, and so does an IPv6 address, which the grammar does not allow.
 */
export function cspSource(merchantUrl: string | null): string | null {
  const origin = webAddress(merchantUrl)?.origin ?? '';
  return /^https?:\/\/[a-z0-9.-]+(:[0-9]+)?$/.test(origin) ? origin : null;
}

/** Parses a web address again, as at the creation of the payment, because a link must never run a script. */
function webAddress(text: string | null): URL | null {
  if (text === null || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
}
