declare module '../state/events/event.ts' {
  interface EventTypes {
    /** A token, key or session of the console has ended: its connections are closed on every instance. */
    credential: {
      kind: 'credential.revoked';
      previousStatus: null;
      snapshot: Record<string, never>;
    };
  }
}

export const accessSnapshots = { credential: (): Record<string, never> => ({}) };

/** The event that ends a credential on every instance, and those that end with it. */
export function revocationOf(id: string) {
  return {
    kind: 'credential.revoked',
    resource: 'credential',
    resourceId: id,
    previousStatus: null,
    snapshot: {},
  } as const;
}
