/**
 * Answers what the parent process asks for, by name.
 *
 * @param {Record<string, (request: any) => any>} answers
 */
export function answerParent(answers) {
  process.on(
    'message',
    async (/** @type {{ id: number, name: string, request: unknown }} */ { id, name, request }) => {
      try {
        process.send?.({ id, value: (await answers[name]?.(request)) ?? null });
      } catch (error) {
        process.send?.({ id, error: error instanceof Error ? error.stack : String(error) });
      }
    },
  );
  process.on('disconnect', () => process.exit());
}

/** Of all threads of this process since its start. */
export function cpuMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
