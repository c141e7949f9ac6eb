/** An error in the arguments, explained in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose help explains more, such as `keys create`; empty if no command was recognized. */
  readonly command: string;
  constructor(message: string, command = '') {
    super(message);
    this.command = command;
  }
}
