import pg from 'pg';

let count = 0;

/** An empty database of its own on the server; the benchmark migrates it. */
export async function createBenchDatabase(postgresUrl: string): Promise<string> {
  const name = `bench_${++count}`;
  const admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
  try {
    await admin.query(`create database ${name}`);
  } finally {
    await admin.end();
  }
  return postgresUrl.replace(/\/\w+$/, `/${name}`);
}
