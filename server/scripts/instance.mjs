// One instance of `npm run cluster`: the server as `npm start` has it, for as long as the cluster lives.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import(new URL('../dist/main.js', import.meta.url).href);
