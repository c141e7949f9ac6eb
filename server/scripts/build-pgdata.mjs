// Writes dist/pgdata.tar.gz, the empty database that a new data folder starts from: unpacking it takes a fraction of the
// seconds that initdb takes. The database is shut down before it is packed, so that the first start has nothing to recover.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

const dist = new URL('../dist/', import.meta.url);
const folder = await mkdtemp(join(tmpdir(), 'psa-pgdata-'));
try {
  await (await PGlite.create({ fs: new NodeFS(folder) })).close();
  // An instance that is not started packs the files unchanged.
  const packer = await PGlite.create({ fs: new NodeFS(folder), noInitDb: true });
  const tarball = await packer.dumpDataDir('gzip');
  await mkdir(dist, { recursive: true });
  await writeFile(new URL('pgdata.tar.gz', dist), Buffer.from(await tarball.arrayBuffer()));
} finally {
  await rm(folder, { recursive: true, force: true });
}
