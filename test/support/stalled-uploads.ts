import { type ClientRequest, request } from 'node:http';

/**
 * Keeps three uploads of files of a dispute open. One that is refused, because it met others, is sent again. Returns the
 * function that ends them.
 */
export function stallUploads(url: string, key: string, disputeId: string): () => void {
  const stalled = new Set<ClientRequest>();
  const stall = () => {
    const sent = request(`${url}/v1/disputes/${disputeId}/files?name=a.pdf`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/pdf' },
        'content-length': '100000',
      },
    });
    stalled.add(sent);
    const again = () => {
      if (!stalled.delete(sent)) return;
      sent.destroy();
      stall();
    };
    sent.on('response', again).on('error', again).write('%PDF');
  };
  for (let nth = 0; nth < 3; nth += 1) stall();
  return () => {
    for (const sent of stalled) {
      stalled.delete(sent);
      sent.destroy();
    }
  };
}
