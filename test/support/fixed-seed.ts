import fc from 'fast-check';
import { runsAll } from './scale.ts';

// In `npm test` generated cases are the same each time, so that a change is judged by itself. A law that fails in one
// history of a thousand is found by `npm run test:all` and at night, which use another seed each time.
if (!runsAll()) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_302 });
