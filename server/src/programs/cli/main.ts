import { run } from './run.ts';

// The timers of the clock keep no process alive, and a command may wait for nothing else, such as a service that does not answer.
const alive = setInterval(() => undefined, 60_000);
void run(process.argv.slice(2), process)
  .then((code) => {
    process.exitCode = code;
  })
  .finally(() => clearInterval(alive));
