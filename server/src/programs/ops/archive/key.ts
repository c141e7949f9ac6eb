import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { ArchiveError } from './format.ts';

// The key that signs archives is the operator's, in a file: someone who has only the database can change it, and sign nothing.

/** Reads the private key in a file of PEM, which is made if there is none. @throws ArchiveError */
export function readSigningKey(file: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  try {
    writeFileSync(file, pem, { flag: 'wx', mode: 0o600, flush: true });
    return privateKey;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new ArchiveError(`${file} cannot be written (${code})`);
  }
  return keyIn(file, createPrivateKey, 'private');
}

/** Reads the public key in a file of PEM. @throws ArchiveError */
export function readPublicKey(file: string): KeyObject {
  return keyIn(file, createPublicKey, 'public');
}

function keyIn(file: string, create: (pem: string) => KeyObject, type: 'private' | 'public'): KeyObject {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ArchiveError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    const key = create(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The file is no key at all.
  }
  throw new ArchiveError(`${file} is no ${type} key of Ed25519 in PEM`);
}

/** The public half of a key, as openssl reads it. */
export function publicPem(key: KeyObject): string {
  const publicKey = key.type === 'public' ? key : createPublicKey(key);
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

/** The SHA-256 of a public key's DER, by which two people compare it. */
export function fingerprintOf(pem: string): string {
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  return hash('sha256', der, 'hex');
}

export function signatureOf(content: Buffer, key: KeyObject): Buffer {
  return sign(null, content, key);
}

/** @throws ArchiveError */
export function assertSigned(content: Buffer, { signature, pem }: { signature: Buffer; pem: string }): void {
  let isSigned = false;
  try {
    const key = createPublicKey(pem);
    isSigned = publicPem(key) === pem && verify(null, content, key, signature);
  } catch {
    // A key that cannot be read has signed nothing.
  }
  if (!isSigned) throw new ArchiveError('its signature is not of its manifest and its key');
}
