import { run } from './run.ts';

void run(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
