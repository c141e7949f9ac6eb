/** A way to pay: by PIX in the page itself, or by card on the hosted page. */
export type CheckoutMethod = 'pix' | 'card';

export const METHODS_DOCUMENT = '{viewer{checkoutMethods}}';

/**
 * Reads the methods that the checkout token takes, in the server's words; null where it does not report
 * them. Rejects where it does not answer, or does not know the field. It runs before
 * anybody has clicked, so it is in the entry and loads no chunk. The server decides again when the payment starts.
 */
export async function readMethods(endpoint: string, token: string): Promise<string[] | null> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: `{"query":"${METHODS_DOCUMENT}"}`,
    credentials: 'omit',
  });
  return (await response.json()).data.viewer.checkoutMethods;
}
