import { PsaDisputes as Element } from '../disputes/define.ts';
import { createComponent } from './component.ts';

/** `<psa-disputes>` as a component of React, for pages that a server renders too. */
export const PsaDisputes = createComponent('psa-disputes', Element);
