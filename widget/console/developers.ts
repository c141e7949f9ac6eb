import { html, nothing, type TemplateResult } from 'lit';
import type { Api } from './api.ts';
import './deliveries.ts';
import './endpoints.ts';
import './keys.ts';
import './tokens.ts';

/** Webhooks, keys and tokens. A session whose key may not manage them sees the webhooks alone. */
export function render(api: Api): TemplateResult {
  const { graphiql, rest } = api.documents;
  const { mayWrite } = api;
  return html`
    ${mayWrite ? html`<console-keys class="card" .api=${api}></console-keys>` : nothing}
    <console-endpoints class="card" .api=${api}></console-endpoints>
    <console-deliveries class="card" .api=${api}></console-deliveries>
    ${mayWrite ? html`<console-tokens class="card" .api=${api}></console-tokens>` : nothing}
    ${
      graphiql || rest
        ? html`<section class="card" aria-labelledby="documents-title">
            <h2 id="documents-title">Documentos</h2>
            <ul class="links">
              ${graphiql ? html`<li><a href="../graphql">GraphiQL: a API GraphQL, com exemplos</a></li>` : nothing}
              ${rest ? html`<li><a href="../v1/docs">Swagger: a API REST, para ler e experimentar</a></li>` : nothing}
            </ul>
          </section>`
        : nothing
    }
  `;
}
