import { expect, onTestFinished, test, vi } from 'vitest';
import { endWithNpm } from '../../server/bin/starting.mjs';

/** Calls `endWithNpm` as below npm: with listeners and a parent that the test controls, and signals that are only recorded. */
function startBelowNpm() {
  vi.useFakeTimers();
  vi.stubEnv('npm_lifecycle_event', 'start');
  const listeners = new Map<string | symbol, () => void>();
  vi.spyOn(process, 'once').mockImplementation((name, listener) => {
    listeners.set(name, listener as () => void);
    return process;
  });
  const parent = vi.spyOn(process, 'ppid', 'get').mockReturnValue(100);
  const others = vi.spyOn(process, 'listenerCount').mockReturnValue(1);
  const sent: unknown[] = [];
  vi.spyOn(process, 'kill').mockImplementation((_, signal) => {
    sent.push(signal);
    return true;
  });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  endWithNpm();
  return {
    sent,
    others,
    receive: (signal: string) => listeners.get(signal)!(),
    loseParent() {
      parent.mockReturnValue(1);
      vi.advanceTimersByTime(1_000);
    },
  };
}

test('A server whose npm has ended gets one SIGTERM', () => {
  const { sent, loseParent } = startBelowNpm();
  vi.advanceTimersByTime(1_000);
  expect(sent).toEqual([]);
  loseParent();
  expect(sent).toEqual(['SIGTERM']);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
  'A server that has received %s with its whole process group gets no second signal when its npm ends',
  (signal) => {
    const { sent, receive, loseParent } = startBelowNpm();
    receive(signal);
    loseParent();
    expect(sent).toEqual([]);
  },
);

test('A start that handles no signal yet ends by the signal that it gets', () => {
  const { sent, others, receive } = startBelowNpm();
  others.mockReturnValue(0);
  receive('SIGTERM');
  expect(sent).toEqual(['SIGTERM']);
});
