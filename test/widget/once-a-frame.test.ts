import { afterEach, expect, test, vi } from 'vitest';
import { onceAFrame } from '../../widget/src/board/once-a-frame.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page whose frames the test triggers. */
function openPage({ hidden = false } = {}) {
  const frames: (() => void)[] = [];
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden });
  vi.stubGlobal('requestAnimationFrame', (work: () => void) => frames.push(work));
  return { draw: () => frames.splice(0).forEach((work) => void work()) };
}

test('The work is done once for a thousand changes of a frame, and again for those of the next', () => {
  const page = openPage();
  const work = vi.fn();
  const change = onceAFrame(work);
  for (let time = 0; time < 1_000; time += 1) change();
  expect(work).not.toHaveBeenCalled();
  page.draw();
  expect(work).toHaveBeenCalledTimes(1);
  page.draw();
  expect(work).toHaveBeenCalledTimes(1);
  change();
  page.draw();
  expect(work).toHaveBeenCalledTimes(2);
});

test('A hidden page has no frames: its changes are shown ten times a second', () => {
  openPage({ hidden: true });
  const work = vi.fn();
  const change = onceAFrame(work);
  for (let time = 0; time < 10; time += 1) {
    change();
    vi.advanceTimersByTime(50);
  }
  expect(work).toHaveBeenCalledTimes(5);
});
