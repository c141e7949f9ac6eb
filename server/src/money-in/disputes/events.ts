import { type Dispute, disputeFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    dispute: {
      kind: `dispute.${Dispute['status']}`;
      previousStatus: Dispute['status'] | null;
      snapshot: Dispute;
    };
  }
}

export const disputeSnapshots = { dispute: disputeFromJson };
