declare module '../state/events/event.ts' {
  interface EventTypes {
    /** A token or key was revoked: its connections are closed on every instance. */
    credential: {
      kind: 'credential.revoked';
      previousStatus: null;
      snapshot: Record<string, never>;
    };
  }
}

export const accessSnapshots = { credential: (): Record<string, never> => ({}) };
