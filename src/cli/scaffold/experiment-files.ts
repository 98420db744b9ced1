// The files of a new experiment in a project.
import { type ScaffoldFile, schemaLine } from './project-files.ts'

/** Files of the experiment `slug`, relative to its folder. */
export function experimentFiles(slug: string): ScaffoldFile[] {
  return [
    { path: 'config.yaml', text: config(slug) },
    { path: 'README.md', text: readme(slug) },
  ]
}

// Names only what a new project has, so that it validates before it is edited.
const config = (slug: string) => `${schemaLine}
version: 1
name: ${slug}
metadata:
  hypothesis: Training for 120 steps instead of 60 routes more of the validation questions right.
  objective: { metric: val.pass@1, direction: max }
  claim:
    treatment: { algorithm.params.max_steps: 120 }
    baseline: { algorithm.params.max_steps: 60 }
    min_effect: 0.02
  benchmark:
    - { name: val, path: ../../data/val, split: val, run_every: 20, metrics: [pass@1] }
    - { name: test, path: ../../data/test, split: test, metrics: [pass@1] }
n_repeats: 3
matrix:
  axes:
    algorithm.params.max_steps: [60, 120]
  base_run:
    data:
      source_kind: jsonl
      path: ../../data/train.jsonl
      transforms:
        - { kind: jsonl_to_chat, params: { user_template: "Query: {query}", assistant_template: "{intent}" } }
    model: { name: mock }
    algorithm: { kind: sft, params: { batch_size: 8 } }
    backend: { kind: mock }
`

const readme = (slug: string) => `# ${slug}

## Hypothesis

One or two sentences that can turn out wrong. Keep them equal to \`metadata.hypothesis\` in config.yaml.

## Why it should be true

What was seen before, and what would speak against it.

## What would change our mind

The numbers in \`metadata.claim\`: which arm against which, on which metric, by how much.
`
