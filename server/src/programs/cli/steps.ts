import type { Answer } from '../ops/admin-socket.ts';
import type { ArchiveSource } from '../ops/archive/source.ts';
import type { ErasureSteps } from '../ops/erasure/steps.ts';
import type { OperationName } from '../ops/operations.ts';

// Commands of many operations, which are performed one after the other where the data are.

/** The reason, in one line, why a command that was typed correctly cannot be performed. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

export type Perform = (operation: OperationName, input: object) => Promise<Answer>;

/** @throws Refusal */
async function resultOf<Result>(perform: Perform, operation: OperationName, input: object): Promise<Result> {
  const answer = await perform(operation, input);
  if (!answer.ok) throw new Refusal(answer.message);
  return answer.result as Result;
}

/** The source of archives through operations. */
export function archiveSourceOf(perform: Perform): ArchiveSource {
  return {
    openArchive: (input) => resultOf(perform, 'archive.open', input),
    reportArchive: (input) => resultOf(perform, 'archive.report', input),
    readArchive: (input) => resultOf(perform, 'archive.read', input),
  };
}

/** The steps of an erasure through operations. */
export function erasureStepsOf(perform: Perform): ErasureSteps {
  return {
    beginErasure: (input) => resultOf(perform, 'erasure.begin', input),
    stepErasure: (input) => resultOf(perform, 'erasure.step', input),
    endErasure: (input) => resultOf(perform, 'erasure.end', input),
  };
}
