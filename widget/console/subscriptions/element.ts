import { html, type TemplateResult, unsafeCSS } from 'lit';
import { boardStyles } from '../../src/board/board.styles.ts';
import { BoardTexts } from '../../src/board/board-texts.ts';
import { propertiesOf } from '../../src/list/controls.ts';
import { listStyles } from '../../src/list/list.styles.ts';
import { ListElement } from '../../src/list/list-element.ts';
import { narrowStyles } from '../../src/list/narrow.styles.ts';
import { subscriptions } from './kind.ts';
import type { Subscription } from './operations.ts';
import { styles } from './styles.ts';
import { type Texts, texts } from './texts.ts';

const catalog = { name: 'subscriptions', portuguese: texts, languages: {} };

/**
 * An account's subscriptions as a live table, whose rows open their details. A cancellation is an event, which the page
 * answers.
 * @fires psa-cancel-request - Its detail has the subscriptionId, and respondWith for the answer.
 */
export class ConsoleSubscriptions extends ListElement<Subscription, Texts> {
  static override styles = [boardStyles, listStyles, styles, narrowStyles].map((text) => unsafeCSS(text));

  static override get properties() {
    return { ...ListElement.properties, ...propertiesOf(subscriptions), mayCancel: { attribute: false } };
  }

  /** The shown statuses, separated by spaces. */
  declare statuses: string;
  declare createdAfter: string | undefined;
  declare createdBefore: string | undefined;
  declare amountCents: number | undefined;
  declare search: string | undefined;
  /** Whether the page requests cancellations. */
  declare mayCancel: boolean;

  constructor() {
    super(subscriptions, new BoardTexts<Texts>(catalog));
    this.statuses = '';
    this.details = true;
    this.mayCancel = false;
  }

  protected override render(): TemplateResult {
    if (this.error?.reason !== 'NOT_OFFERED') return super.render();
    return html`<p part="empty" class="empty" .textContent=${this.texts.text('notOffered')}></p>`;
  }
}

customElements.define('console-subscriptions', ConsoleSubscriptions);
