import { PsaStatement as Element } from '../statement/define.ts';
import { createComponent } from './component.ts';

/** `<psa-statement>` as a component of React, for pages that a server renders too. */
export const PsaStatement = createComponent('psa-statement', Element);
