/** The database cannot be brought to this version, for the reason that the message gives. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
