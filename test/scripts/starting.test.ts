import { describe, expect, onTestFinished, test, vi } from 'vitest';

let starts = 0;

/**
 * Starts a program below a parent, npm or another program, with the test's listeners and parent, and with signals
 * that are only recorded.
 */
async function startBelow(by: 'endWithNpm' | 'endWithParent') {
  // The module remembers received signals for the life of a process, which other tests share: each start has its own.
  starts += 1;
  const own = new URL(`../../server/bin/starting.mjs?start=${starts}`, import.meta.url).href;
  const starting: typeof import('../../server/bin/starting.mjs') = await import(/* @vite-ignore */ own);
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
  starting[by]();
  return {
    sent,
    others,
    receive: (signal: string) => listeners.get(signal)!(),
    loseParent() {
      parent.mockReturnValue(1);
      listeners.get('disconnect')?.();
      vi.advanceTimersByTime(1_000);
    },
  };
}

describe.each(['endWithNpm', 'endWithParent'] as const)('%s', (by) => {
  test('A server whose parent has ended gets one SIGTERM', async () => {
    const { sent, loseParent } = await startBelow(by);
    vi.advanceTimersByTime(1_000);
    expect(sent).toEqual([]);
    loseParent();
    expect(sent).toEqual(['SIGTERM']);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    'A server that has received %s with its whole process group gets no second signal when its parent ends',
    async (signal) => {
      const { sent, receive, loseParent } = await startBelow(by);
      receive(signal);
      loseParent();
      expect(sent).toEqual([]);
    },
  );

  test('A start that handles no signal yet ends by the signal that it gets', async () => {
    const { sent, others, receive } = await startBelow(by);
    others.mockReturnValue(0);
    receive('SIGTERM');
    expect(sent).toEqual(['SIGTERM']);
  });
});

test('A server of start() does not drain, unless its variables or those of its program say so', async () => {
  const { environmentOfChild } = await import('../../server/bin/starting.mjs');
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('PSA_DRAIN_SECONDS', undefined);
  expect(environmentOfChild({ PORT: '0' })).toMatchObject({ PORT: '0', PSA_DRAIN_SECONDS: '0' });
  vi.stubEnv('PSA_DRAIN_SECONDS', '2');
  expect(environmentOfChild({})).toMatchObject({ PSA_DRAIN_SECONDS: '2' });
  expect(environmentOfChild({ PSA_DRAIN_SECONDS: '1' })).toMatchObject({ PSA_DRAIN_SECONDS: '1' });
});
