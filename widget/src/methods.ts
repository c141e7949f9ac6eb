/** A way to pay: by PIX in the page itself, or by card on the hosted page. */
export type CheckoutMethod = 'pix' | 'card';

export const METHODS_DOCUMENT = '{viewer{checkoutMethods}}';

/** The server's answer about a token: the methods that it takes, null if it does not report them, or why it is refused. */
interface MethodsAnswer {
  data?: { viewer?: { checkoutMethods?: string[] | null } } | null;
  errors?: { message?: string }[];
}

/**
 * Reads the methods that the checkout token takes. Rejects if the server does not answer. It runs before any
 * click, so it is in the entry and loads no chunk. The server decides again when the payment starts.
 */
export async function readMethods(endpoint: string, token: string): Promise<MethodsAnswer> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: `{"query":"${METHODS_DOCUMENT}"}`,
    credentials: 'omit',
  });
  return response.json();
}
