// The tasks of a benchmark with their answers, as metrics see them. Frozen: every metric, and every resample of it, gets the same objects.
import type { HarborTask, MetricSample, MetricTask, Prediction } from '../../contracts/index.ts'

/** `samples`: by task, in the order of `tasks`. */
export function metricTasks(tasks: readonly HarborTask[], samples: readonly (readonly MetricSample[])[]): MetricTask[] {
  return tasks.map(({ task_id, instruction, verifier, metadata }, i) =>
    frozen({
      taskId: task_id,
      instruction,
      expected: verifier.kind === 'in_process' ? structuredClone(verifier.expected) : undefined,
      metadata: structuredClone(metadata),
      samples: [...(samples[i] ?? [])],
    }),
  )
}

/** What a metric sees of an answer. One that could not be judged has no output: it may have been anything. */
export function metricSample(answer: Prediction | undefined, isJudged: boolean): MetricSample {
  const { output, logprobs, prompt_tokens: promptTokens, completion_tokens: completionTokens } = answer ?? {}
  const isWhole = logprobs?.every((each) => each !== null) === true
  return {
    output: isJudged ? (output ?? '') : undefined,
    logprobs: isWhole ? logprobs?.map(Number) : undefined,
    promptTokens,
    completionTokens,
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const each of Object.values(value)) frozen(each)
  return value
}
