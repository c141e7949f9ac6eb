import { html, type TemplateResult } from 'lit';
import { endpointOf } from '../board/board-host.ts';
import type { BoardTexts } from '../board/board-texts.ts';
import { importAgain } from '../import-again.ts';
import type { ListController, ListHost } from './list-controller.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import { pageOf, type Row } from './row-list.ts';

/** Creates the button that downloads the rows of the filter. */
export function createExportButton<R extends Row, T extends ListTexts>(
  kind: ListKind<R, T>,
  host: ListHost<R>,
  { texts, data }: { texts: BoardTexts<T>; data: ListController<R, T> },
): () => TemplateResult {
  let state: '' | 'exporting' | 'exportFailed' = '';
  const set = (next: typeof state) => {
    state = next;
    host.requestUpdate();
  };

  const run = async () => {
    set('exporting');
    try {
      const { exportRows } = await importAgain(`${kind.title}.filters`, kind.loadControls);
      const { connectedSignal: signal } = data;
      const endpoint = endpointOf(host) ?? '';
      const savedAs = texts.text(kind.title).toLowerCase();
      const { filter } = pageOf(host.view, 0, kind);
      await data.authorized(signal, (token) =>
        exportRows!({ endpoint, token, file: kind.file!, savedAs, filter, signal }),
      );
      set('');
    } catch {
      set('exportFailed');
    }
  };

  return () => html`<div class="export">
    <button part="export-button" class="quiet" ?disabled=${state === 'exporting'} @click=${run}
      .textContent=${texts.text(state === 'exporting' ? state : 'exportFile')}></button>
    <span role="status" .textContent=${state === 'exportFailed' ? texts.text(state) : ''}></span>
  </div>`;
}
