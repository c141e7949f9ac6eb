import type { Law } from './law.ts';

export const DISPUTE_LAWS: readonly Law[] = [
  {
    name: 'evidence-has-files',
    scope: ['dispute'],
    explain:
      'a submission names files that its dispute lists, and those of an undecided dispute are stored whole',
    sql: `
      select dispute.id, status, named.file_id, listed.size_bytes, stored.size_bytes as stored_bytes
      from dispute
        cross join lateral jsonb_array_elements(evidence) submission
        cross join lateral jsonb_array_elements_text(coalesce(submission -> 'fileIds', '[]')) named (file_id)
        left join lateral (
          select (file ->> 'sizeBytes')::integer as size_bytes from jsonb_array_elements(files) file
          where file ->> 'fileId' = named.file_id
        ) listed on true
        left join lateral (
          select size_bytes from dispute_file
          where dispute_file.file_id = named.file_id and dispute_file.dispute_id = dispute.id
            and dispute_file.account_id = dispute.account_id and dispute_file.environment = dispute.environment
          limit 1
        ) stored on true
      where listed.size_bytes is null
        or stored.size_bytes <> listed.size_bytes
        -- The erasure of a person deletes the bytes of disputes that are decided.
        or (stored.size_bytes is null and status in ('open', 'under_review'))`,
  },
];
