// Runs config.yaml from code and writes the same record as `evsys run config.yaml`. Once, in the project:
// npm install --save-dev evsys jiti. Then: npx jiti run.ts
import { fileURLToPath } from 'node:url'
import { formatProblems, problemsOf, runExperiment } from 'evsys'

try {
  const file = fileURLToPath(new URL('config.yaml', import.meta.url))
  const { name, experiment_id, conclusion, status } = await runExperiment(file, {
    onItem(run, item) {
      if (item.type === 'run.finished') console.error(`${run.name}: ${item.status}`)
    },
  })
  console.log(`${name} (${experiment_id}): ${conclusion?.text}`)
  process.exitCode = status === 'failed' ? 1 : 0
} catch (error) {
  console.error(formatProblems(problemsOf(error)))
  process.exitCode = 2
}
