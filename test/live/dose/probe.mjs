// Loaded into each instance of a dose before the server: it reports the memory after garbage collection.
import { isMainThread } from 'node:worker_threads';
import { memoryMegabytes } from '../../bench/processes/answer.mjs';

if (isMainThread && process.channel) {
  process.on('message', async ({ probe }) => {
    if (probe === undefined) return;
    const { rssMb } = await memoryMegabytes();
    const { heapUsed, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    process.send?.({ probe, rssMb, heldMb: (heapUsed + external) / 1e6, cpuMs: (user + system) / 1e3 });
  });
  // A listener must not keep an ended instance alive.
  process.channel.unref();
}
