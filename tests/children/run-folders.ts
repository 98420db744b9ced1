// An agent without a model on task folders: `run-folders TASKS AGENT DIR`. Prints the rewards by task: of the trial, then of its steps.
import { runTaskFolders } from '../../src/lab/trials/run-task-folders.ts'

const [path = '', agent = '', outputDir = ''] = process.argv.slice(2)
const { end } = await runTaskFolders({
  ...{ path, outputDir, agent: { kind: agent, params: {} }, environment: { kind: 'auto', params: {} } },
  sampling: { maxTokens: 1, temperature: 0 },
  ...{ numSamples: 1, concurrent: 3, maxRetries: 1, metrics: ['mean_reward'] },
  secretSource: { get: () => undefined },
  hostEnv: {},
  signal: new AbortController().signal,
})
const scores = end.trials.map(({ result, reward, error }) => [
  result.task_name,
  [reward ?? error?.message, ...(result.step_results ?? []).map((step) => step.verifier_result?.rewards?.reward)],
])
process.stdout.write(`${JSON.stringify(Object.fromEntries(scores))}\n`)
