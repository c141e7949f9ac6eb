// The one way in which the connection to PGlite is lost: its worker dies, here around a COMMIT.
import { Worker } from 'node:worker_threads';

/** @type {import('./child.ts').Cut | null} */
let cut = null;

/**
 * Ends the worker at a later COMMIT, before the COMMIT or before its answer arrives.
 * @param {import('./child.ts').Cut} at
 */
export function cutWorker(at) {
  cut = { ...at };
}

const { postMessage } = Worker.prototype;
/** @type {(this: Worker, ...args: any[]) => void} */
Worker.prototype.postMessage = function (...args) {
  const post = () => Reflect.apply(postMessage, this, args);
  const isNext = cut !== null && isCommit(args[0]) && cut.after-- === 0;
  if (!cut || !isNext) return post();
  const { verdict } = cut;
  cut = null;
  if (verdict === 'cut-before') return void this.terminate();
  const { emit } = this;
  /** @type {(this: Worker, ...said: any[]) => boolean} */
  this.emit = (...said) => {
    if (said[0] !== 'message') return Reflect.apply(emit, this, said);
    // The worker has done the COMMIT: it answers only then.
    void this.terminate();
    return true;
  };
  post();
};

/** Whether a message is one simple query, `Q`, its length and its text, that commits. @param {unknown} message */
function isCommit(message) {
  return (
    message instanceof Uint8Array &&
    message[0] === 0x51 &&
    Buffer.from(message).toString('latin1', 5) === 'commit\0'
  );
}
