import { pixResourceFromJson } from '../pix/model.ts';
import type { Charge } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /** A change of a charge, also inside a status: then `previousStatus` is the status itself. */
    charge: {
      kind: `charge.${Charge['status']}`;
      previousStatus: Charge['status'] | null;
      snapshot: Charge;
    };
  }
}

export const chargeSnapshots = { charge: pixResourceFromJson<Charge> };
