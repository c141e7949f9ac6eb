import { createCountdown } from '../countdown.ts';
import type { Dispute } from './operations.ts';

/** The most submissions of a defence. */
const MAX_SUBMISSIONS = 10;
/** The most by which the device's two clocks go apart by themselves. */
const MAX_DRIFT_MS = 5_000;

/** The functions of the elements that show deadlines, which draw the time that is left. */
const draws = new Set<() => void>();
/** The server's time at the last answer, and the device's clocks then. */
let synced: { serverMs: number; dateMs: number; monotonicMs: number; isDoubted?: boolean } | undefined;
let latestMs = 0;

const drawAll = () => {
  for (const draw of draws) draw();
};
/** One timer for all deadlines of the page, to the latest of them. A page in the background has none. */
const countdown = createCountdown(() => draws.size > 0 && !document.hidden, drawAll, drawAll);

/** The time since the last answer in milliseconds, by the device's two clocks. */
const elapsed = ({ dateMs, monotonicMs }: NonNullable<typeof synced>) =>
  [Date.now() - dateMs, performance.now() - monotonicMs] as const;

/** The server's time in milliseconds. A device that was asleep counts by its date, for its other clock may have stood still. */
export function serverNow(): number {
  return synced ? synced.serverMs + Math.max(...elapsed(synced)) : Date.now();
}

/** Whether the device was asleep or its date was set since the last answer, so that only another one has the time. True once. */
export function hasLostTime(): boolean {
  if (!synced || synced.isDoubted) return false;
  const [byDate, byClock] = elapsed(synced);
  synced.isDoubted = Math.abs(byDate - byClock) > MAX_DRIFT_MS;
  return synced.isDoubted;
}

/** Sets the server's time by the disputes of an answer: the device's date may be wrong. */
export function noteDeadlines(disputes: readonly Dispute[]): void {
  for (const { evidenceDueAt, evidenceDueInSeconds } of disputes) {
    if (!evidenceDueAt || !evidenceDueInSeconds) continue;
    const dueMs = Date.parse(evidenceDueAt);
    const serverMs = dueMs - evidenceDueInSeconds * 1_000;
    synced = { serverMs, dateMs: Date.now(), monotonicMs: performance.now() };
    latestMs = Math.max(latestMs, dueMs);
  }
  const leftMs = latestMs - serverNow();
  if (leftMs > 0) countdown.set(leftMs / 1_000);
}

/** Calls `draw` at each second in which the page is visible, until `signal` is aborted. */
export function followDeadlines(draw: () => void, signal: AbortSignal): void {
  draws.add(draw);
  signal.addEventListener('abort', () => draws.delete(draw));
  document.addEventListener('visibilitychange', countdown.tick, { signal });
  countdown.tick();
}

/** The milliseconds until the deadline of a dispute, 0 or less when it is over; Infinity if it is unknown. */
export function msUntilDue({ evidenceDueAt }: Dispute): number {
  return evidenceDueAt ? Date.parse(evidenceDueAt) - serverNow() : Number.POSITIVE_INFINITY;
}

/** Whether the banks have not decided a dispute yet. */
export function isUndecided({ status }: Dispute): boolean {
  return status === 'OPEN' || status === 'UNDER_REVIEW';
}

/** Whether a dispute takes a defence now. */
export function takesDefence(dispute: Dispute): boolean {
  return isUndecided(dispute) && dispute.evidence.length < MAX_SUBMISSIONS && msUntilDue(dispute) > 0;
}
