import { html, type LitElement, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import { boardStyles } from '../board/board.styles.ts';
import { BoardElement } from '../board/board-element.ts';
import { BoardTexts } from '../board/board-texts.ts';
import type { Listener } from '../board/events.ts';
import { connectionState, line, problem } from '../board/messages.ts';
import type { PsaWalletEventMap } from './events.ts';
import { FIGURES, type Figure, readDays, readFigures } from './figures.ts';
import { texts } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import type { Wallet } from './operations.ts';
import { styles } from './psa-wallet.styles.ts';
import { sparkline } from './sparkline.ts';
import { WalletController, type WalletHost } from './wallet-controller.ts';

export type * from './public-types.ts';

const catalog = {
  name: 'wallet',
  portuguese: texts,
  languages: { en: () => import('./locales/en.ts'), es: () => import('./locales/es.ts') },
};
/** The time for which changes of what is available are collected before one of them is announced. */
const ANNOUNCE_MS = 5_000;
const FLASH_MS = 1_600;

/**
 * An account's wallet: what a payout may take, the balance and its parts, and the line of its history. The figures change in
 * place.
 *
 * @tagname psa-wallet
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope WALLET. A new token of the same account resumes where the old one expired.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the wallet is followed. `auto` tries them in this order.
 * @attr {string} figures - The shown figures, separated by spaces: available, balance, pending, blocked, subaccounts, ltc, receivable. All by default, of these `receivable` where it is not zero.
 * @attr {string} history - The days of the drawn history, such as `30d`, the default, to `366d`; none with `0d`.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-wallet-update - {wallet, previous}. A figure has changed.
 * @fires psa-token-expired - The token has expired. Set `token` to a new one, or provide `renewToken`.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, reason, message, retryable}
 *
 * @slot heading - Above the figures, beside the connection.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading and connection.
 * @csspart connection - The state of the connection.
 * @csspart error - The error, and what to do.
 * @csspart retry-button - Retries.
 * @csspart figures - All figures.
 * @csspart figure - One of them, with its name.
 * @csspart note - Says that the wallet is that of the sandbox.
 * @csspart history - The line of the history, with its text.
 *
 * @cssproperty --psa-color-primary - The button.
 * @cssproperty --psa-color-chart - The line of the history; the primary color by default.
 * @cssproperty --psa-color-surface - The background.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success
 * @cssproperty --psa-color-warning
 * @cssproperty --psa-color-danger - A figure below zero.
 * @cssproperty --psa-color-highlight - The background of a figure that has just changed.
 * @cssproperty --psa-radius - Corners.
 * @cssproperty --psa-spacing - Between the parts.
 * @cssproperty --psa-padding - Around the parts.
 * @cssproperty --psa-font-family
 * @cssproperty --psa-focus-ring-color
 *
 * @cssstate idle
 * @cssstate loading
 * @cssstate ready
 * @cssstate error
 * @cssstate empty - No figure is other than zero.
 * @cssstate forbidden - The token is valid, and does not read the wallet.
 */
export class PsaWallet extends BoardElement<Texts> implements WalletHost {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return [boardStyles, styles].map((text) => unsafeCSS(text));
  }

  static override get properties() {
    return { ...BoardElement.properties, figures: {}, history: {} };
  }

  /** The shown figures, separated by spaces. */
  declare figures: string | undefined;
  /** The days of the drawn history, such as `30d`. */
  declare history: string;

  declare addEventListener: Listener<PsaWalletEventMap> & LitElement['addEventListener'];
  declare removeEventListener: Listener<PsaWalletEventMap> & LitElement['removeEventListener'];

  protected readonly data = new WalletController(this);
  protected readonly texts = new BoardTexts<Texts>(catalog);
  /** The drawn figures as texts, by which a change is seen. */
  #drawn: { [Name in Figure]?: string | undefined } = {};
  #sentence = '';
  #announcing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.history = '30d';
  }

  /** The figures as they stand; undefined before the server's first answer. */
  get wallet(): Wallet | undefined {
    return this.data.wallet;
  }

  /** @internal The days of the drawn history. */
  get historyDays(): number {
    return readDays(this.history);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#announcing);
    this.#announcing = undefined;
  }

  protected get isEmpty(): boolean {
    const { wallet } = this;
    return Boolean(wallet && Object.values(FIGURES).every((read) => !Number(read(wallet))));
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    if (this.hasUpdated && changed.has('history')) this.data.restart();
  }

  protected override updated(): void {
    super.updated();
    const { wallet, texts: words } = this;
    for (const name of readFigures(this.figures)) {
      const before = this.#drawn[name];
      const value = wallet && this.#textOf(name, wallet);
      this.#drawn[name] = value;
      if (!before || !value || before === value) continue;
      const easing = matchMedia('(prefers-reduced-motion)').matches ? 'step-end' : 'ease-out';
      this.renderRoot
        .querySelector(`.${name} dd`)
        ?.animate([{ backgroundColor: 'var(--_flash)' }, {}], { duration: FLASH_MS, easing });
      if (name !== 'available') continue;
      this.#announcing ??= setTimeout(() => {
        this.#announcing = undefined;
        this.#sentence = words.text('announce', { amount: this.#drawn.available ?? '' });
        this.requestUpdate();
      }, ANNOUNCE_MS);
    }
  }

  protected override render(): TemplateResult {
    const { wallet, texts: words } = this;
    const isWaiting = !wallet && this.phase === 'loading';
    const shown = readFigures(this.figures).filter(
      (name) => name !== 'receivable' || (wallet && Number(FIGURES[name](wallet))),
    );
    return html`
      <div part="base" class="base" lang=${words.language}>
        <div part="toolbar" class="toolbar">
          <slot name="heading"></slot>
          ${connectionState(words, this.data)}
        </div>
        <div class="notice" role="status">${problem(words, this.data)}</div>
        ${
          wallet || isWaiting
            ? html`<div part="figures" role="group" aria-label=${words.text('wallet')} aria-busy=${isWaiting ? 'true' : 'false'}>
                <dl class="figures">${shown.map((name) => this.#renderFigure(name, wallet))}</dl>
              </div>`
            : ''
        }
        ${wallet?.sandbox ? html`<p part="note" class="note" .textContent=${words.text('sandbox')}></p>` : ''}
        ${wallet ? this.#renderHistory(wallet) : ''}
        <div class="sr" role="status" data-announcement .textContent=${this.#sentence}></div>
      </div>
    `;
  }

  #renderFigure(name: Figure, wallet: Wallet | undefined): TemplateResult {
    const isNegative = wallet && Number(FIGURES[name](wallet)) < 0;
    return html`<div part="figure" class="${name} ${wallet ? '' : 'waiting'} ${isNegative ? 'negative' : ''}">
      <dt>${line(this.texts.text(name))}</dt>
      <dd>${line(wallet ? this.#textOf(name, wallet) : '…')}</dd>
    </div>`;
  }

  #textOf(name: Figure, wallet: Wallet): string {
    const value = FIGURES[name](wallet);
    if (value === null) return '—';
    if (typeof value === 'number') return this.texts.formats.money(value);
    return this.texts.formats.ltc(value);
  }

  /** The line ends with the balance of now. */
  #renderHistory({ balanceCents }: Wallet): TemplateResult | '' {
    const past = this.data.history.slice(0, -1).map(({ closing }) => closing.balanceCents);
    const values = [...past, balanceCents].filter((value) => value !== null);
    if (past.length === 0 || values.length < 2) return '';
    const { historyDays: days, texts: words } = this;
    const { money } = words.formats;
    const isByTheHour = this.data.isByTheHour;
    return html`<figure part="history">
      ${sparkline(values)}
      <figcaption>${line(
        words.text(isByTheHour ? 'historyHours' : 'history', {
          days,
          hours: days * 24,
          first: money(values[0]!),
          last: money(values.at(-1)!),
          least: money(Math.min(...values)),
          most: money(Math.max(...values)),
        }),
      )}</figcaption>
    </figure>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-wallet': PsaWallet;
  }
}
