// The chunk of the export, which loads when its button is clicked. It imports nothing from the entry at run time.
import { arrive } from '../import-again.ts';
import type { View } from '../list/row-list.ts';

export interface ExportOptions {
  /** The whole address of the endpoint, beside which the exports are. */
  endpoint: string;
  token: string;
  view: View;
  signal: AbortSignal;
}

/** Downloads the entries that the filter selects as a CSV that opens in Brazilian spreadsheets. Rejects if it is refused or cut off. */
export async function exportStatement({ endpoint, token, view, signal }: ExportOptions): Promise<void> {
  const url = new URL('exports/statement.csv?excel=pt-BR', endpoint);
  for (const [name, value] of Object.entries({ ...view.filter, kind: view.chosen.join().toLowerCase() }))
    if (value) url.searchParams.set(name, String(value));
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    credentials: 'omit',
    signal,
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = 'extrato.csv';
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

arrive('statement.export', { exportStatement });
