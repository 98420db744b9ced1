// The files of a new project, by path. Everything they name exists: `validate --deep` passes on the first try.
import { taskRows, trainRows } from './intent-data.ts'

/** One file to write. An `optional` one that is there already says nothing about whose project it is. */
export interface ScaffoldFile {
  readonly path: string
  readonly text: string
  readonly optional?: boolean | undefined
}

/** Path of the experiment that a new project begins with. */
export const quickstartPath = 'experiments/quickstart/config.yaml'

/** All files of a new project. `schema` is the JSON Schema of the experiment file, for editors. */
export function projectFiles(schema: unknown): ScaffoldFile[] {
  return [
    { path: '.evsys/.gitignore', text: '*\n', optional: true },
    { path: '.evsys/schema/experiment.json', text: `${JSON.stringify(schema, null, 2)}\n`, optional: true },
    { path: 'AGENTS.md', text: agentsGuide },
    { path: 'package.json', text: manifest, optional: true },
    { path: 'data/train.jsonl', text: trainRows() },
    { path: 'data/val/tasks.jsonl', text: taskRows('val') },
    { path: 'data/val/metadata.yaml', text: benchmarkCard('val', 'Questions that select checkpoints and arms.') },
    { path: 'data/test/tasks.jsonl', text: taskRows('test') },
    {
      path: 'data/test/metadata.yaml',
      text: benchmarkCard('test', 'Questions that confirm the winner. Never select on them.'),
    },
    { path: 'src/plugins/intent-match.ts', text: samplePlugin },
    { path: quickstartPath, text: quickstart },
  ]
}

/** The line that lets editors check and complete an experiment file two folders below the project. */
export const schemaLine = '# yaml-language-server: $schema=../../.evsys/schema/experiment.json'

// Makes the plugin files modules for editors and for Node; evsys itself needs no package.json.
const manifest = `{
  "private": true,
  "type": "module"
}
`

function benchmarkCard(name: string, description: string): string {
  return `name: ${name}\nversion: 1\ndescription: ${description}\n`
}

const quickstart = `${schemaLine}
# Sends questions to the right desk of a shop: trains evsys/tiny, which comes with evsys, on this machine. No key, no GPU.
version: 1
name: quickstart
metadata:
  hypothesis: Forty steps of LoRA route at least 50 % more of the validation questions right than one step.
  objective: { metric: val.pass@1, direction: max }
  claim:
    treatment: { algorithm.params.max_steps: 40 }
    baseline: { algorithm.params.max_steps: 1 }
    min_effect: 0.5
  benchmark:
    - { name: val, path: ../../data/val, split: val, metrics: [pass@1], temperature: 0, max_tokens: 8 }
    - { name: test, path: ../../data/test, split: test, metrics: [pass@1], temperature: 0, max_tokens: 8 }
n_repeats: 3
budget: { wall: 10m }
matrix:
  axes:
    algorithm.params.max_steps: [1, 40]
  base_run:
    data:
      source_kind: jsonl
      path: ../../data/train.jsonl
      transforms:
        - { kind: jsonl_to_chat, params: { user_template: "Query: {query}", assistant_template: "{intent}" } }
    model: { name: evsys/tiny }
    algorithm:
      kind: sft
      params: { lora_rank: 8, batch_size: 8, learning_rate: 0.002, lr_schedule: linear_decay }
    backend: { kind: local }
`

const samplePlugin = `// Scores the answers of data/val and data/test. Every file in this folder is loaded: no build, no registration.
import { defineVerifier, z } from 'evsys/plugin'

export const intentMatch = defineVerifier({
  kind: 'intent_match',
  summary: 'Full reward when the first word of the answer is the expected intent.',
  params: z.strictObject({
    ignore_case: z.boolean().default(true).describe('Whether REFUND counts as refund.'),
  }),
  verify({ output, expected }, { params }) {
    const word = output.trim().split(/[^\\w-]/)[0] ?? ''
    const wanted = String(expected)
    const right = params.ignore_case ? word.toLowerCase() === wanted.toLowerCase() : word === wanted
    return right ? 1 : 0
  },
})

export default [intentMatch]
`

const agentsGuide = `# Map of this project

| folder | what it holds |
| --- | --- |
| \`data/\` | training rows, and benchmarks: \`val\` selects, \`test\` confirms. Raw data is never edited: write a transform |
| \`src/plugins/\` | your own transforms, verifiers, metrics, algorithms in TypeScript; each file is loaded without a build |
| \`experiments/\` | one folder per experiment: \`config.yaml\` holds hypothesis, recipe and benchmarks; \`run.ts\` runs it from code |
| \`.evsys/\` | what evsys writes: the record and the files of every run. Ignored by git; \`evsys init --force\` brings back what is missing |

## Commands

\`\`\`sh
evsys history                                             # what was tried and what came of it: read this first
evsys new-experiment shorter-prompts                      # experiments/<date>-shorter-prompts/config.yaml
evsys validate experiments/quickstart/config.yaml --deep  # checks everything, prints the plan
evsys run experiments/quickstart/config.yaml --dry        # power, forecast and a trial of a few steps
evsys run experiments/quickstart/config.yaml              # trains, scores, concludes; --resume continues after an interruption
evsys show quickstart                                     # arms, runs, scores, conclusion, files
evsys compare quickstart shorter-prompts                  # side by side, where the scorer is the same
evsys conclude quickstart "what you make of it"           # your word beside the computed conclusion
evsys invalidate RUN --reason "trained on the wrong file" # takes a run out and concludes again
evsys list transforms                                     # what \`kind:\` may say
evsys schema algorithm sft                                # what \`params:\` may hold
evsys doctor                                              # what this machine has
\`\`\`

Every command takes \`--json\`. Exit codes: 0 done, 1 failed, 2 the input is wrong, 130 interrupted. An error says where and how to
fix it; all errors of a file come at once.

## Pitfalls

- Write the hypothesis before the recipe, as a sentence that can turn out wrong, and a \`claim\` that says in numbers when it is right.
- Choose by \`val\`, report \`test\`. Naming a test metric as objective is an error.
- One seed shows nothing: keep \`n_repeats\` at 3 or more for anything you want to believe.
- Paths in a YAML file are relative to that file.
- A typo in a key is an error, not a default. \`evsys schema experiment\` lists the keys.
- Rows carry no supervision: which tokens are trained on is the algorithm’s decision.
- Editors show types in \`src/plugins\` after \`npm install --save-dev evsys\`; evsys itself does not need that.
`
