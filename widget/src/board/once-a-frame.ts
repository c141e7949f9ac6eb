/** The time between two frames of a hidden page, for which the browser makes none. */
const HIDDEN_MS = 100;

/** Returns a function that does the work in the next frame, once, however often it is called before. */
export function onceAFrame(work: () => void): () => void {
  let isWaiting = false;
  const run = () => {
    isWaiting = false;
    work();
  };
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    if (document.hidden) setTimeout(run, HIDDEN_MS);
    else requestAnimationFrame(run);
  };
}
