import type { TemplateResult } from 'lit';
import type { PayoutsHost } from './payouts-host.ts';
import type { PayoutsProperties } from './payouts-properties.ts';

/** The element, whose properties the controls of its filter set. */
export type FilterHost = PayoutsHost & PayoutsProperties;

/** The controls of one element. */
export interface FilterForm {
  render(): TemplateResult;
}
