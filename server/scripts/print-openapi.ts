import { describeOperations } from '../src/api/http/openapi.ts';
import { createOperations } from '../src/programs/modes/parts.ts';
import { DESCRIBED_WEBHOOKS } from '../src/webhooks/sent-events.ts';

const publicUrl = 'http://localhost';
// Describing the operations calls no service.
const operations = createOperations({ publicUrl } as Parameters<typeof createOperations>[0]);
const description = describeOperations(operations, publicUrl, DESCRIBED_WEBHOOKS);
process.stdout.write(`${JSON.stringify(description, null, 2)}\n`);
