// biome-ignore-start lint/performance/noBarrelFile: the entry that registers every element of a board
export { PsaDisputes } from '../disputes/define.ts';
export { PsaPayouts } from '../payouts/define.ts';
export { PsaSales } from '../sales/define.ts';
export { PsaStatement } from '../statement/define.ts';
export { PsaWallet } from '../wallet/define.ts';
// biome-ignore-end lint/performance/noBarrelFile: as above
