import { type ReturnSnapshot, returnFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    return: {
      kind: 'return.completed';
      previousStatus: null;
      snapshot: ReturnSnapshot;
    };
  }
}

export const returnSnapshots = { return: returnFromJson };
