// What recipes that roll out are told about who answers, and how a task is put to it.
import * as z from 'zod'

/** Fields of a params schema. */
export const rolloutParams = {
  system_prompt: z
    .string()
    .optional()
    .describe('Put before the task’s instruction. An agent that the run names has its own.'),
  user_template: z.string().min(1).default('{prompt}').describe('Wraps the instruction: `{prompt}` is replaced.'),
  agent_import_path: z
    .string()
    .min(1)
    .optional()
    .describe('Agent that answers: a kind, or an export of a file as `./agent.ts#Name`. `agent` of the run wins.'),
}
