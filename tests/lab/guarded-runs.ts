// Runs of `rl` on the mock backend that go wrong, each in its own way, and one that does not.
import * as z from 'zod'
import type { RunAssignment } from '../../src/contracts/index.ts'
import { defineVerifier } from '../../src/kernel/index.ts'
import { runAssignment } from '../run-assignment.ts'
import { trainHere } from '../train-here.ts'

const verifier = (kind: string, verify: (output: string) => number) =>
  defineVerifier({ kind, summary: 'Of a test.', params: z.strictObject({}), verify: ({ output }) => verify(output) })
const share = (letter: string) => (output: string) =>
  [...output].filter((each) => each === letter).length / Math.max(1, output.length)

/** Verifiers with a loophole, and those that see it. */
export const verifiers = [
  verifier('long', (output) => output.length / 100),
  verifier('always', () => 1),
  verifier('much_a', share('a')),
  verifier('much_b', share('b')),
]

const questions = ['one', 'two', 'three']
const dataOf = (rows: readonly object[]) => ({
  ...{ source_kind: 'in_memory', rows: [...rows], hf_split: 'train', transforms: [] },
})

type Changes = Partial<Omit<RunAssignment, 'config'>> & { config?: object | undefined }

/** A run of `rl` whose tasks are judged by one verifier. */
export function rlRun(dir: string, fn_name: string, params: object, { config, ...rest }: Changes = {}): RunAssignment {
  const rows = questions.map((task_id) => ({
    ...{ task_id, instruction: task_id },
    verifier: { kind: 'in_process', fn_name, expected: 'e' },
  }))
  const usual = { batch_size: 3, num_samples: 8, max_tokens: 12, learning_rate: 0.02, max_steps: 30, save_every: 3 }
  const algorithm = { kind: 'rl', params: { ...usual, ...params } }
  const changes = { ...rest, config: { data: dataOf(rows), algorithm, ...config } }
  return runAssignment(dir, changes as Parameters<typeof runAssignment>[1])
}

/** Weights that answer with a letter or two. */
export async function shortAnswers(dir: string): Promise<string> {
  const rows = ['ab', 'ba', 'a', 'b'].flatMap((answer) =>
    questions.map((question) => ({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ],
    })),
  )
  const algorithm = { kind: 'sft', params: { max_steps: 60, batch_size: 3, learning_rate: 0.1 } }
  const config = { data: dataOf(rows), algorithm } as object
  const run = await trainHere(runAssignment(dir, { config }))
  const state = run.of('checkpoint.saved').findLast(({ kind }) => kind === 'state')
  if (state === undefined) throw new Error('the start was not saved')
  return state.ref
}
