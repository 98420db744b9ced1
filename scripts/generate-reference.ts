// Writes the reference pages of the file formats from their schemas: `npm run docs`. A test fails when the committed pages differ.

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { DataConfig, ExperimentFile, PluginSpec, TaskFile } from '../src/contracts/index.ts'
import { type JsonSchema, renderReferencePage } from './reference-page.ts'

const folder = fileURLToPath(new URL('../docs/reference', import.meta.url))

/** Generated pages by file name. */
export function referencePages(): Record<string, string> {
  return {
    'experiment-file.md': renderReferencePage(schemaOf(ExperimentFile), {
      title: 'Experiment file',
      intro:
        'Exactly one of `run`, `runs` and `matrix` says what is trained; `data`, `model`, `algorithm` and `backend` at the root are short for `run`. Unknown keys are errors. `evsys schema experiment` prints the same as JSON Schema.',
      shared: { data: schemaOf(DataConfig), plugin: schemaOf(PluginSpec) },
    }),
    'task-file.md': renderReferencePage(schemaOf(TaskFile), {
      title: 'Task file',
      intro:
        'One command with parameters, for jobs and for research. Unknown keys are errors at every level. `evsys schema task` prints the same as JSON Schema.',
    }),
  }
}

// What people write: defaults are optional.
function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest as JsonSchema // the subset of JSON Schema that zod emits for these schemas
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(referencePages())) writeFileSync(`${folder}/${name}`, text)
}
