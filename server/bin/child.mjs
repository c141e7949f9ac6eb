// The server of `start()`: it ends with the process that has started it, however that ends.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import('./psa.mjs');
