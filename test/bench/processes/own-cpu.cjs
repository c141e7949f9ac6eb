// Required by a program before its own code: answers each message with the CPU that the process has used, in microseconds.
// As a program of its own it is a bare start of Node.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
// Only the program itself keeps the process.
if (require.main !== module) process.channel?.unref();
