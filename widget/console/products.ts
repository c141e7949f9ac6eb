import { html, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import './products/list.ts';
import './products/store-products.ts';

const { attach, onChange } = createSharedFilter(['stock', 'search']);

/** The products of the account with their content and stocks, and those of the store. */
export function render(api: Api): TemplateResult {
  return html`<console-products .api=${api} @filter-change=${onChange} ${ref(attach)}></console-products>
    <console-store-products .api=${api}></console-store-products>`;
}
