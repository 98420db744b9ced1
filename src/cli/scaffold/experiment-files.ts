// The files of a new experiment in a project.
import { type ScaffoldFile, schemaLine } from './project-files.ts'

/** Files of the experiment `slug`, relative to its folder. */
export function experimentFiles(slug: string): ScaffoldFile[] {
  return [
    { path: 'config.yaml', text: config(slug) },
    { path: 'run.ts', text: program },
    { path: 'README.md', text: readme(slug) },
  ]
}

// Names only what a new project has, so that it validates before it is edited.
const config = (slug: string) => `${schemaLine}
version: 1
name: ${slug}
metadata:
  hypothesis: A learning rate of 0.002 routes more of the validation questions right than 0.0005.
  objective: { metric: val.pass@1, direction: max }
  claim:
    treatment: { algorithm.params.learning_rate: 0.002 }
    baseline: { algorithm.params.learning_rate: 0.0005 }
    min_effect: 0.02
  benchmark:
    - { name: val, path: ../../data/val, split: val, metrics: [pass@1], temperature: 0, max_tokens: 8 }
    - { name: test, path: ../../data/test, split: test, metrics: [pass@1], temperature: 0, max_tokens: 8 }
n_repeats: 3
matrix:
  axes:
    algorithm.params.learning_rate: [0.0005, 0.002]
  base_run:
    data:
      source_kind: jsonl
      path: ../../data/train.jsonl
      transforms:
        - { kind: jsonl_to_chat, params: { user_template: "Query: {query}", assistant_template: "{intent}" } }
    model: { name: evsys/tiny }
    algorithm: { kind: sft, params: { max_steps: 40, batch_size: 8, lr_schedule: linear_decay } }
    backend: { kind: local }
`

// For an experiment that is part of a program; `evsys run` does without it.
const program = `// Runs config.yaml from code and writes the same record as \`evsys run config.yaml\`. Once, in the project:
// npm install --save-dev evsys jiti. Then: npx jiti run.ts
import { fileURLToPath } from 'node:url'
import { formatProblems, problemsOf, runExperiment } from 'evsys'

try {
  const file = fileURLToPath(new URL('config.yaml', import.meta.url))
  const { name, experiment_id, conclusion, status } = await runExperiment(file, {
    onItem(run, item) {
      if (item.type === 'run.finished') console.error(\`\${run.name}: \${item.status}\`)
    },
  })
  console.log(\`\${name} (\${experiment_id}): \${conclusion?.text}\`)
  process.exitCode = status === 'failed' ? 1 : 0
} catch (error) {
  console.error(formatProblems(problemsOf(error)))
  process.exitCode = 2
}
`

const readme = (slug: string) => `# ${slug}

## Hypothesis

One or two sentences that can turn out wrong. Keep them equal to \`metadata.hypothesis\` in config.yaml.

## Why it should be true

What was seen before, and what would speak against it.

## What would change our mind

The numbers in \`metadata.claim\`: which arm against which, on which metric, by how much.

## Run it

\`evsys run config.yaml\`, or \`run.ts\`, which does the same from code. Both write the same record.
`
