import { hash } from 'node:crypto';
import { NotFoundError, OperatorNotice, PreconditionError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import type { Sealing } from '../../kernel/sealing.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { type Committer, put } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { disputes, fileContents, writesOf } from './collections.ts';
import { decideFile } from './decisions.ts';
import { countFilesByKey, selectFile, sumOfFiles } from './file-store.ts';
import { assertWholeFile, type DisputeFile, type DisputeFiles, MAX_STORED_BYTES } from './files.ts';
import { disputeTable } from './store.ts';

/** The operation of the idempotency keys of uploads. */
const UPLOAD = 'uploadDisputeFile';

/** Files of disputes on Postgres. A file and its dispute are written by one commit. */
export function createDisputeFiles({
  database: { sql },
  committer,
  sealing,
}: {
  database: Database;
  committer: Committer;
  sealing: Sealing;
}): DisputeFiles {
  return {
    async upload(tenant, disputeId, { idempotencyKey: key, ...content }) {
      assertWholeFile(content);
      if (!sealing.seal)
        throw new PreconditionError(
          'NOT_OFFERED',
          'This server stores no files: it has no key to encrypt them',
        );
      const { name, mediaType, bytes } = content;
      const [fileId, sha256] = [`dsf_${objectId()}`, hash('sha256', bytes)];
      const sealed = sealing.seal(bytes, placeOf(tenant, fileId));
      const inputHash = hashInput({ disputeId, name, mediaType, sha256 });
      const storedBytes = await sumOfFiles(sql, tenant);
      return committer.change<{ file: DisputeFile; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(disputes, disputeId),
            readReplay(reader, UPLOAD, key, async () => undefined),
          ]),
        decide(state) {
          const dispute = state.get(disputes, disputeId);
          if (!dispute) throw new NotFoundError('Dispute not found');
          const before = key === undefined ? null : replayed(state, UPLOAD, key, inputHash);
          const known = dispute.files.find((file) => file.fileId === before || file.sha256 === sha256);
          const remembered = (made: string) =>
            key === undefined || before !== null
              ? []
              : [remember({ operation: UPLOAD, key, inputHash, resourceId: made })];
          if (before !== null && !known) throw new NotFoundError('The file of this key was deleted');
          if (known)
            return {
              outcome: { file: known, replayed: true },
              writes: { records: remembered(known.fileId) },
            };
          const sizeBytes = bytes.length;
          if (storedBytes + sizeBytes > MAX_STORED_BYTES)
            throw new PreconditionError(
              'LIMIT_REACHED',
              `The files of this account would have more than ${MAX_STORED_BYTES} bytes`,
            );
          const file = { fileId, name, mediaType, sizeBytes, sha256, createdAt: state.now };
          const { records, ...writes } = writesOf(decideFile(dispute, file, state.now));
          const stored = put(fileContents, { fileId, disputeId, sizeBytes, ...sealed });
          return {
            outcome: { file, replayed: false },
            writes: { ...writes, records: [...records, stored, ...remembered(fileId)] },
          };
        },
      });
    },

    async read(tenant, disputeId, fileId) {
      const [[dispute], stored] = await Promise.all([
        disputeTable.load(sql, tenant, [disputeId]),
        selectFile(sql, tenant, fileId),
      ]);
      if (!dispute) throw new NotFoundError('Dispute not found');
      const file = dispute.files.find((each) => each.fileId === fileId);
      if (!file || !stored) throw new NotFoundError('File not found');
      const { name, mediaType } = file;
      return { name, mediaType, bytes: sealing.open(stored, placeOf(tenant, fileId)) };
    },
  };
}

/** The place of a file, to which its encryption is bound. */
function placeOf(tenant: Tenant, fileId: string): string {
  return `dispute_file ${tenantKey(tenant)} ${fileId}`;
}

/** Finds the files that none of the keys opens; null if there are none. */
export async function findLockedFiles(
  { sql }: Database,
  sealing: Pick<Sealing, 'has'>,
): Promise<OperatorNotice | null> {
  const locked = (await countFilesByKey(sql)).filter(({ keyId }) => !sealing.has(keyId));
  if (locked.length === 0) return null;
  const keys = locked.map(({ keyId, files }) => `${files} with the key ${keyId}`).join(', ');
  return new OperatorNotice(
    `files of disputes cannot be read: ${keys}. Add it to PSA_DATA_KEY or data.key, behind the key that encrypts`,
  );
}
