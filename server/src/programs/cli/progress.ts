import type { OnRows } from '../../state/db/backup.ts';

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The parts of a process that long work uses. */
export interface Attended {
  stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  exit(code: number): never;
}

/** Performs long work, which shows its rows and can be interrupted: unfinished files are removed when the process exits. */
export async function attend<Result>(
  { stderr, exit }: Attended,
  work: (show: (action: string) => OnRows) => Promise<Result>,
): Promise<Result> {
  const progress = createProgress(stderr);
  const interrupt = () => exit(1);
  for (const signal of INTERRUPTS) process.once(signal, interrupt);
  try {
    return await work(progress.onRows);
  } finally {
    for (const signal of INTERRUPTS) process.off(signal, interrupt);
    progress.end();
  }
}

/** Overwrites one line on a terminal; prints nothing elsewhere. */
function createProgress(terminal: Attended['stderr']) {
  let shown = 0;
  const show = (text: string) => {
    if (!terminal.isTTY) return;
    terminal.write(`\r${text.padEnd(shown)}`);
    shown = text.length;
  };
  return {
    onRows: (action: string) => (table: string, rows: number) => show(`${action} ${table}: ${rows} rows`),
    end() {
      if (shown === 0) return;
      show('');
      terminal.write('\r');
    },
  };
}
