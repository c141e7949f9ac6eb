import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const r = await build({
  configFile: false,
  logLevel: 'silent',
  build: {
    write: false,
    target: 'es2022',
    lib: { entry: 'triv.tmp.ts', formats: ['es'] },
    rolldownOptions: { output: { minify: true } },
  },
});
const c = r[0].output[0].code;
console.log(c.length, gzipSync(c, { level: 9 }).length);
const stub = process.argv.slice(2);
for (const s of [
  '',
  'psa-checkout.styles',
  'checkout-controller',
  'checkout-state',
  'storage',
  'payment-window',
  'pt-BR',
  'import-again',
]) {
  const r2 = await build({
    configFile: 'vite.config.ts',
    mode: 'standalone',
    logLevel: 'silent',
    plugins: [
      {
        name: 's',
        enforce: 'post',
        load(id) {
          if (s && id.includes('/src/') && id.endsWith(s + '.ts'))
            return {
              'psa-checkout.styles': 'export const styles=[]',
              'checkout-controller': 'export class CheckoutController{state={};}',
              'checkout-state': 'export const reduce=()=>({}),followable=()=>1,settled=()=>1,INITIAL={}',
              storage:
                'export const attemptId=()=>1,findVisit=()=>1,forgetVisit=()=>1,keyOf=()=>1,lastKey=()=>1,loadVisit=()=>1,newVisit=()=>1,saveVisit=()=>1',
              'payment-window': 'export const PaymentWindow={},resolveMode=()=>1,safeUrl=()=>1',
              'pt-BR': 'export const ptBR={}',
              'import-again': 'export const importAgain=(a)=>a()',
            }[s];
        },
      },
    ],
    build: { write: false },
  });
  const e = (Array.isArray(r2) ? r2[0] : r2).output.find((o) => o.fileName === 'psa-checkout.js');
  console.log(s, e.code.length, gzipSync(e.code, { level: 9 }).length);
}
