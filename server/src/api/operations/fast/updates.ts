import { type CreatePlan, createPlan } from '../update-plans.ts';
import { type CompiledOperation, compileOperation } from './compile.ts';

/** Executions of an operation before it is compiled. */
const COMPILE_AFTER = 2;

/** Creates a plan that runs compiled from its third update on, and then drops the parsed document. */
export const createCompiledPlan: CreatePlan = (planned) => {
  let parsed: { planned: typeof planned; execute: ReturnType<CreatePlan> } | null = {
    planned,
    execute: createPlan(planned),
  };
  let compiled: CompiledOperation | null = null;
  let executions = 0;
  return (item, context, variables) => {
    executions += 1;
    if (parsed && executions === COMPILE_AFTER + 1) {
      const { schema, document, operation } = parsed.planned;
      compiled = compileOperation(schema, document, operation);
      if (compiled) parsed = null;
    }
    return parsed ? parsed.execute(item, context, variables) : compiled!(context, variables, item);
  };
};
