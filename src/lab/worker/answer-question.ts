// A question that the controller has for the policy of a run here, and what becomes of it.
import type { FromWorker, PolicyAnswer, PolicyQuestion, ToWorker } from '../../contracts/index.ts'
import { EvsysError, problemsOf, toRecord } from '../../kernel/index.ts'
import { limitOf } from '../../rollout/index.ts'

export type AnswerPolicy = (question: PolicyQuestion) => Promise<PolicyAnswer>

/** Answers in its own time; the caller goes on. `policy` is absent where its look at a benchmark is over. */
export function answerQuestion(
  { type: _type, request: _request, question, ...asked }: Extract<ToWorker, { type: 'ask' }>,
  policy: AnswerPolicy | undefined,
  say: (message: FromWorker) => void,
): void {
  const answering = policy === undefined ? Promise.reject(tooLate()) : policy(asked)
  answering.then(
    (answer) => say({ type: 'answer', question, answer }),
    (error: unknown) => {
      const [problem] = problemsOf(error)
      const record = toRecord(problem ?? new EvsysError('INTERNAL', 'unknown failure'))
      const isTooLong = limitOf(error) === 'context'
      say({ type: 'no_answer', question, error: record, ...(isTooLong ? { is_too_long: true as const } : {}) })
    },
  )
}

function tooLate(): EvsysError {
  return new EvsysError('INTERRUPTED', 'the look at the benchmark is over')
}
