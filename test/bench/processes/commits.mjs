/**
 * Records when a COMMIT is sent to PostgreSQL and when it is answered, on any connection of this process.
 * @param {Pick<typeof import('pg'), 'Client'>} pg the copy that the connections are of
 */
export function watchCommits(pg) {
  /** @type {string | null} */
  let sentAt = null;
  /** @type {string | null} */
  let answeredAt = null;
  const now = () => String(process.hrtime.bigint());
  const { query } = pg.Client.prototype;
  /** @type {(this: any, ...args: any[]) => any} */
  const watched = function (...args) {
    const result = Reflect.apply(query, this, args);
    if (args[0] === 'commit') {
      sentAt = now();
      result.then(
        () => {
          answeredAt = now();
        },
        () => undefined,
      );
    }
    return result;
  };
  Object.assign(pg.Client.prototype, { query: watched });
  return {
    forget() {
      sentAt = null;
      answeredAt = null;
    },
    /** The instants of the last COMMIT, in nanoseconds of the machine's clock. */
    last: () => ({ sentAt, answeredAt }),
  };
}
