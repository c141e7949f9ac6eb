import pg from 'pg';

let count = 0;

/** Creates a database on the server: empty, for the benchmark to migrate, or a copy of one that is not open. */
export async function createBenchDatabase(postgresUrl: string, copyOf?: string): Promise<string> {
  const name = `bench_${++count}`;
  const admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
  try {
    const template = copyOf ? ` template ${new URL(copyOf).pathname.slice(1)}` : '';
    await admin.query(`create database ${name}${template}`);
  } finally {
    await admin.end();
  }
  return postgresUrl.replace(/\/\w+$/, `/${name}`);
}
