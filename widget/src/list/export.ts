// The export of a list, which is a part of the chunk of its controls.

export interface ExportOptions {
  /** The whole address of the endpoint, beside which the exports are. */
  endpoint: string;
  token: string;
  /** The name of the server's export, and that of the saved file. */
  file: string;
  savedAs: string;
  /** The filter of the list, as its query has it. */
  filter: object | null | undefined;
  signal: AbortSignal;
}

/**
 * Downloads the rows that a filter selects as a CSV that opens in Brazilian spreadsheets. Rejects if it is refused or cut off, with
 * the code `unauthorized` for the token.
 */
export async function exportRows({ endpoint, token, file, savedAs, filter, signal }: ExportOptions) {
  const url = new URL(`exports/${file}.csv?excel=pt-BR`, endpoint);
  for (const [name, value] of Object.entries(filter ?? {})) {
    // The export has words in lower case, and `customerEmail` for the `email` of the filter's `customer`.
    if (Array.isArray(value)) url.searchParams.set(name, value.join().toLowerCase());
    else if (typeof value !== 'object') url.searchParams.set(name, value);
    else
      for (const [member, text] of Object.entries(value as object))
        url.searchParams.set(`${name}${member[0]!.toUpperCase()}${member.slice(1)}`, text);
  }
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    credentials: 'omit',
    signal,
  });
  const { ok, status } = response;
  if (!ok) throw Object.assign(new Error('refused'), { code: status === 401 ? 'unauthorized' : status });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${savedAs}.csv`;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
