import { ENVELOPE_MEMBERS } from '../../server/src/kernel/webhook-event.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test knows which event it reads
type Event = any;

/** Reads a webhook's body without the members that each body has. */
export function ownMembers(body: string): Event {
  const event = JSON.parse(body);
  for (const member of ENVELOPE_MEMBERS) delete event[member];
  return event;
}
