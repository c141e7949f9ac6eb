import type { TemplateResult } from 'lit';
import type { PayoutsHost } from './payouts-host.ts';
import type { PayoutsProperties } from './payouts-properties.ts';

/** The element, as the controls of its filter set its properties. */
export type FilterHost = PayoutsHost & PayoutsProperties;

/** The controls of one element. */
export interface FilterForm {
  render(): TemplateResult;
}
