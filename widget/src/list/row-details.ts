import { html, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { line } from '../board/messages.ts';
import { importAgain } from '../import-again.ts';
import type { DetailsPanel, DetailsParts } from './details.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import type { Row } from './row-list.ts';

/** The details of one row. */
export interface RowDetails {
  open(id: string): Promise<void>;
  /** Reads the row again if it is the open one; without an id the open one. */
  onRow(id?: string): void;
  /** Renders the dialog; on the page of one row its content alone. */
  render(isPage?: boolean): TemplateResult | '';
}

/** Creates the details of a list's rows; the first ones load the chunk of their panel. */
export function createRowDetails<R extends Row, T extends ListTexts>(
  { title, loadDetails }: ListKind<R, T>,
  parts: Omit<DetailsParts<R, T>, 'html'> & { texts: BoardTexts<T> },
): RowDetails {
  let panel: DetailsPanel | undefined;
  let isLost = false;
  return {
    async open(id) {
      if (!loadDetails) return;
      try {
        const { createDetails } = await importAgain(`${title}.details`, loadDetails);
        panel ??= createDetails({ html, ...parts });
        panel.open(id);
        isLost = false;
      } catch {
        isLost = true;
      }
      parts.host.requestUpdate();
    },
    onRow: (id) => panel?.onRow(id),
    render: (isPage) => panel?.render(isPage) ?? (isLost ? line(parts.texts.text('network')) : ''),
  };
}
