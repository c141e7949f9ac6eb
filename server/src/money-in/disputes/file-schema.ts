import { builder } from '../../api/graphql/builder.ts';
import type { DisputeFile } from './files.ts';

export const DisputeFileRef = builder.objectRef<DisputeFile>('DisputeFile').implement({
  description: 'A file that the merchant has uploaded for a dispute, without its bytes.',
  fields: (t) => ({
    fileId: t.exposeString('fileId', {
      description:
        'The identifier of the file: dsf_ and 24 hex digits; in remote mode, the identifier that the upstream service gives.',
    }),
    name: t.exposeString('name', { description: 'The name of the file, as uploaded.' }),
    mediaType: t.exposeString('mediaType', {
      description: 'The type of the file: application/pdf, image/png or image/jpeg.',
    }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'The size of the file in bytes.' }),
    sha256: t.exposeString('sha256', { description: 'The SHA-256 of the bytes, in hex digits.' }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the file was uploaded; null if the upstream service does not report it.',
    }),
  }),
});
