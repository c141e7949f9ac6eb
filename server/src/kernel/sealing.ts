import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { OperatorNotice } from './errors.ts';

/** Bytes that are encrypted. */
export interface Sealed {
  /** The id of the key that opens them. */
  keyId: string;
  sealed: Buffer;
}

/** Encrypts what is stored, with keys that the database does not have. */
export interface Sealing {
  /**
   * Encrypts bytes with the newest key. `context`: the name of their place. Bytes that were moved to another place do not
   * open there. Null if there is no key.
   */
  seal: ((bytes: Buffer, context: string) => Sealed) | null;
  /** Decrypts bytes. @throws OperatorNotice if none of the keys opens them; Error if they or their place were changed */
  open(sealed: Sealed, context: string): Buffer;
  /** Whether one of the keys has this id. */
  has(keyId: string): boolean;
}

const KEY_BYTES = 32;

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function newSealingKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** Reads keys in base64, separated by commas; null if one is no key. */
export function readSealingKeys(text: string): Buffer[] | null {
  const written = text.split(',').map((each) => each.trim());
  const keys = written.map((each) => Buffer.from(each, 'base64'));
  // Buffer passes over what is not base64.
  const isKey = (key: Buffer, nth: number) =>
    key.length === KEY_BYTES && key.toString('base64') === written[nth];
  return keys.every(isKey) ? keys : null;
}

/** Creates the encryption by keys, the newest first: it encrypts, and all of them decrypt. */
export function createSealing(keys: readonly Buffer[]): Sealing {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [newest] = byId;
  return {
    seal: newest
      ? (bytes, context) => {
          const [keyId, key] = newest;
          const nonce = randomBytes(NONCE_BYTES);
          const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context));
          const sealed = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
          return { keyId, sealed };
        }
      : null,
    open({ keyId, sealed }, context) {
      const key = byId.get(keyId);
      if (!key) throw new OperatorNotice(`the data key ${keyId} is not configured`);
      const [start, end] = [NONCE_BYTES, sealed.length - TAG_BYTES];
      const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, start), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(end));
      return Buffer.concat([decipher.update(sealed.subarray(start, end)), decipher.final()]);
    },
    has: (keyId) => byId.has(keyId),
  };
}

/** The id of a key, which does not reveal it: the key has 256 bits of its own. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('psa data key').update(key).digest('hex').slice(0, 16);
}
