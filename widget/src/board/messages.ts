import { html, type TemplateResult } from 'lit';
import type { BoardController } from './board-controller.ts';
import type { BoardTexts } from './board-texts.ts';
import type { SharedTexts } from './locales/texts.ts';

/** Shows the problem, and what to do. */
export function problem<T extends SharedTexts>(
  texts: BoardTexts<T>,
  data: BoardController,
): TemplateResult | '' {
  if (!data.error) return '';
  return html`
    <div part="error" class="problem">
      ${line(texts.problem(data.error))}
      <button part="retry-button" class="quiet" @click=${() => data.retry()} .textContent=${texts.text('retry')}></button>
    </div>
  `;
}

/** Shows the state of the connection, and the age of what is shown where it is old. */
export function connectionState<T extends SharedTexts>(
  texts: BoardTexts<T>,
  { connection, age }: BoardController,
): TemplateResult {
  const shown = age.shown(connection);
  const name = shown === 'stale' && age.isKeyRefused ? 'keyRefused' : shown;
  const words = name === 'idle' ? '' : texts.text(name).replace(age.oldSince ? '…' : '', '');
  return html`<span part="connection" class="connection ${shown}" .textContent=${
    words + (words && age.oldSince ? texts.text('asOf', { age: texts.formats.ago(age.oldSince) }) : '')
  }></span>`;
}

/** Renders words as a property: if a browser has translated them, the next words still replace them. */
export function line(words: string): TemplateResult {
  return html`<span .textContent=${words}></span>`;
}
