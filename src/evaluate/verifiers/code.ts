import * as z from 'zod'
import { defineVerifier, EvsysError } from '../../kernel/index.ts'

/** Runs the answer's code against tests. */
export const code = defineVerifier({
  kind: 'code',
  summary: 'Runs the answer’s code against tests in a sandbox, which this version does not have: it is refused.',
  params: z.strictObject({
    language: z.enum(['python', 'javascript']).default('python').describe('Language of the answer.'),
    timeout_s: z.number().positive().max(600).default(10).describe('Longest that the tests may take.'),
  }),
  needs: { sandbox: true },
  verify() {
    throw noSandbox('code')
  },
})

/** Why tasks whose answers are programs cannot be scored. It is told when a benchmark is opened, before anything runs. */
export function noSandbox(kind: string): EvsysError {
  return new EvsysError(
    'SANDBOX_MISSING',
    `the verifier "${kind}" needs the sandbox, which this version of evsys does not have`,
    {
      fix: 'score these tasks by what they print or return: exact_match, numeric, json_schema, or a verifier of your own.',
    },
  )
}
