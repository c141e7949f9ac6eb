// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the sources
import { join } from 'node:path';
import { copySources, replaceOnce } from '../support/copied-sources.ts';

/** A change in one place of the sources that breaks a promise of live status. */
export interface Fault {
  /** The path from the root of the repository. */
  file: string;
  /** A text that is in the file once, and its replacement. */
  from: string;
  to: string;
  /** The finding that fails, with every named client. */
  shows: 'missed' | 'doubled' | 'misplaced' | 'foreign' | 'errors' | 'silentGaps';
  clients: readonly string[];
}

const WS = ['graphql-ws'];
const EACH_TRANSPORT = ['graphql-ws', 'no library'];

export const FAULTS: Record<string, Fault> = {
  'the server reads on one event too late': {
    file: 'server/src/state/events/log.ts',
    from: 'and version > ${after}::bigint\n',
    to: 'and version > ${after}::bigint + 1\n',
    shows: 'missed',
    clients: EACH_TRANSPORT,
  },
  'the first event at the live end is taken for one that was read': {
    file: 'server/src/state/events/subscribe.ts',
    from: 'live.after = through;',
    to: 'live.after = through + 1;',
    shows: 'missed',
    clients: EACH_TRANSPORT,
  },
  'a commit wakes nobody': {
    file: 'server/src/state/events/log-tailer.ts',
    from: '    tails.set(name, tail);\n',
    to: '',
    shows: 'missed',
    clients: WS,
  },
  'the events of all tenants are read': {
    file: 'server/src/state/events/log.ts',
    from: 'where account_id = ${accountId}::text and environment = ${environment}::text and version > ${after}::bigint',
    to: 'where environment = ${environment}::text and version > ${after}::bigint',
    shows: 'foreign',
    clients: EACH_TRANSPORT,
  },
  // The marks of the two logs differ, so a follower is refused before it sees an event of the other tenant.
  'tenants share the items of an event': {
    file: 'server/src/kernel/caller.ts',
    from: '    tenant.accountId,\n    tenant.environment,\n    sortedGrant,',
    to: '    tenant.environment,\n    sortedGrant,',
    shows: 'errors',
    clients: WS,
  },
  'a cursor of another log counts': {
    file: 'server/src/state/events/log.ts',
    from: 'if (mark !== 0 && found !== null && mark !== found) return null;',
    to: '',
    shows: 'silentGaps',
    clients: WS,
  },
  'waiting events are sent from behind': {
    file: 'server/src/state/events/subscribe.ts',
    from: 'this.queue?.shift()',
    to: 'this.queue?.pop()',
    shows: 'misplaced',
    clients: WS,
  },
  'the client moves its cursor before it compares': {
    file: 'widget/src/live/resume.ts',
    from: '    if (update.cursor === variables.after) return;\n    variables.after = update.cursor;\n',
    to: '    variables.after = update.cursor;\n    if (update.cursor === variables.after) return;\n',
    shows: 'missed',
    clients: EACH_TRANSPORT,
  },
  'the client does not move its cursor': {
    file: 'widget/src/live/resume.ts',
    from: '    variables.after = update.cursor;\n',
    to: '',
    shows: 'doubled',
    clients: EACH_TRANSPORT,
  },
  'the client takes the end of a stream for its completion': {
    file: 'widget/src/live/event-stream.ts',
    from: "if (done) throw new Error('The stream of events has ended');",
    to: 'if (done) return;',
    shows: 'missed',
    clients: ['no library'],
  },
  'a backend goes on over a gap without comparing its records': {
    file: 'widget/src/server/follow.ts',
    from: "onGap: () => begin('expired'),",
    to: "onGap: () => request<string>(server, '{updatesCursor}'),",
    shows: 'silentGaps',
    clients: ['follow'],
  },
  'the client presents a token that was refused': {
    file: 'widget/src/live/resume.ts',
    from: 'tokens?.drop(token);',
    to: '',
    shows: 'errors',
    clients: EACH_TRANSPORT,
  },
};

const SOURCES = ['server/src', 'widget/src', 'test/live', 'test/support'];

/** Copies the sources, with a fault if one is given. The caller removes the copy. */
export function copyWith(fault: Pick<Fault, 'file' | 'from' | 'to'> | null) {
  const copy = copySources(['server', 'widget', 'test'], SOURCES);
  if (fault) replaceOnce(join(copy.path, fault.file), fault.from, fault.to);
  return copy;
}
