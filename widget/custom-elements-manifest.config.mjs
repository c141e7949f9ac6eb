export default {
  globs: ['src/psa-checkout.ts'],
  outdir: '.',
  litelement: true,
};
