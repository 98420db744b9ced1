import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { defineVerifier, EvsysError } from '../../kernel/index.ts'
import { codeOf } from './code/code-of.ts'
import { openCodeSandbox, runTests } from './code/run-tests.ts'

/** Runs the answer's code against tests. */
export const code = defineVerifier({
  kind: 'code',
  summary: 'Runs the code of the answer with the tests of the task in a sandbox: reward 1 if all of them pass.',
  params: z.strictObject({
    language: z
      .enum(['python', 'javascript', 'sh'])
      .default('python')
      .describe('Language of the answer and its tests.'),
    command: z
      .array(z.string())
      .min(1)
      .optional()
      .describe(
        'Program and arguments that test instead; the answer is the file `answer`, the tests `tests`. Exit code 0 passes.',
      ),
    tests: z
      .union([z.string(), z.array(z.string()).min(1)])
      .optional()
      .describe('Tests of every task; absent: what a task expects.'),
    reward: z.enum(['all', 'share']).default('all').describe('1 if all tests pass, or the share that does.'),
    timeout_s: z.number().positive().max(600).default(10).describe('Longest that code and tests may take.'),
    memory_mb: z.int().min(16).max(65_536).default(512).describe('Most memory that they may use.'),
  }),
  needs: { sandbox: true },
  async verify({ output, expected }, { params, signal }) {
    const tests = testsOf(params.tests ?? expected)
    const folder = await mkdtemp(join(tmpdir(), 'evsys-code-'))
    try {
      const answer = params.command === undefined ? codeOf(output, params.language) : codeOf(output)
      const { passed, reason, level } = await runTests({ ...params, folder, answer, tests, signal })
      const share = passed / tests.length
      const info = { passed, tests: tests.length, sandbox: level, ...(reason === undefined ? {} : { reason }) }
      return { reward: params.reward === 'share' || share === 1 ? share : 0, info }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
})

/** Throws SANDBOX_MISSING where answers cannot be run: told when a benchmark is opened, before anything else. */
export async function needSandbox(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'evsys-code-'))
  try {
    const sandbox = await openCodeSandbox(folder)
    await sandbox[Symbol.asyncDispose]()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Tasks that bring a container for a service which evsys does not use. */
export function noContainer(): EvsysError {
  return new EvsysError('SANDBOX_MISSING', 'tasks of kind "e2b" run in a service that evsys does not use', {
    fix: 'score them with the verifier `code`, or keep them as task folders, which run in the sandbox.',
  })
}

function testsOf(value: unknown): readonly string[] {
  const tests = z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)]).safeParse(value)
  if (tests.success && tests.data.every((test) => test.trim() !== '')) return tests.data
  throw new EvsysError('DATA_INVALID', 'the verifier "code" needs tests: a text or a list of texts', {
    fix: 'write them as `expected` of the task, or as `tests` of the verifier.',
  })
}
