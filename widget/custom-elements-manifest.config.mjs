export default {
  globs: ['src/psa-checkout.ts', 'src/payouts/psa-payouts.ts'],
  outdir: '.',
  litelement: true,
};
