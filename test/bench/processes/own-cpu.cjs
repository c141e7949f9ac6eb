// Loaded into a program before its own code: it answers each message with the CPU time of the process, in
// microseconds. Run alone it is a bare start of Node.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
// The channel does not keep a program alive that has ended.
if (require.main !== module) process.channel?.unref();
