import { endWithNpm, readStartArguments, serverVersion, startHelp } from '../bin/starting.mjs';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { fail, isMain } from './progress.mjs';

const NAMES = { command: 'npm start', withOptions: 'npm start --' };

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  if (args[0] === '--version' || args[0] === '-V') {
    console.log(serverVersion());
  } else if (args.includes('--help') || args.includes('-h')) {
    const about = 'Installs and builds what is not up to date, then starts the server. Ctrl-C stops it.';
    process.stdout.write(startHelp({ ...NAMES, about }));
  } else {
    const { upstream, problem } = readStartArguments(args, NAMES);
    if (problem) fail(problem);
    if (upstream) process.env.PSA_UPSTREAM_URL = upstream;
    endWithNpm();
    await ensureInstalled();
    await ensureParts([...RUNNABLE]);
    // Outside production GraphQL and others check more and run slower.
    process.env.NODE_ENV ??= 'production';
    await import(new URL('../dist/main.js', import.meta.url).href);
  }
}
