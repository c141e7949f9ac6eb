// One instance of `npm run cluster`: the built server, which ends with the cluster.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import(new URL('../dist/main.js', import.meta.url).href);
