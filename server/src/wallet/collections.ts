import type { Collection } from '../commit/commit.ts';
import type { Dispute } from './model.ts';
import { saveDisputes, selectDisputes } from './store.ts';

/** Disputes, as a decision reads and writes them. */
export const disputes: Collection<Dispute> = {
  name: 'dispute',
  load: selectDisputes,
  keyOf: (dispute) => dispute.id,
  save: saveDisputes,
};
