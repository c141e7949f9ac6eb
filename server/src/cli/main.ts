import { run } from './run.ts';

run(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
