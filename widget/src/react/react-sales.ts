import { PsaSales as Element } from '../sales/define.ts';
import { createComponent } from './component.ts';

/** `<psa-sales>` as a component of React, for pages that a server renders too. */
export const PsaSales = createComponent('psa-sales', Element);
