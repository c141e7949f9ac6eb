/** A way to pay: by PIX in the page itself, or by card on the hosted page. */
export type CheckoutMethod = 'pix' | 'card';

/** Reads the `methods` attribute: the known words in their order, each once. */
export function parseMethods(text: string): CheckoutMethod[] {
  return [...new Set(text.match(/\b(pix|card)\b/g))] as CheckoutMethod[];
}

/**
 * Reads the methods that the checkout token takes; undefined where the server does not tell. It runs before anybody has
 * clicked, so it is in the entry and does not load the payment chunk. The server decides again when the payment starts.
 */
export async function readMethods(endpoint: string, token: string): Promise<string[] | undefined> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{"query":"{viewer{checkoutMethods}}"}',
      credentials: 'omit',
    });
    const { data } = await response.json();
    return data.viewer.checkoutMethods?.map((method: string) => method.toLowerCase());
  } catch {
    return undefined;
  }
}
