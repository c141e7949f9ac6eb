import { html, nothing, type TemplateResult } from 'lit';
import '../src/wallet/define.ts';
import type { Api } from './api.ts';
import './chart.ts';
import './tasks.ts';

/** The first page: the wallet, the sales by time, and what waits for a person. */
export function render(api: Api, scopes: readonly string[]): TemplateResult {
  return html`
    ${
      scopes.includes('wallet')
        ? html`<psa-wallet
            class="card"
            history="30d"
            .endpoint=${api.endpoint}
            .token=${api.token}
            .renewToken=${api.renewToken}
            ><h2 slot="heading">Carteira</h2></psa-wallet
          >`
        : nothing
    }
    <console-tasks class="card" .api=${api}></console-tasks>
    ${
      scopes.includes('card_payments') || scopes.includes('payments')
        ? html`<console-chart class="card" .api=${api}></console-chart>`
        : nothing
    }
  `;
}
