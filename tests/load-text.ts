// Loading experiments from text, as tests want to see it: the plan, or every problem in one short line.
import { type LoadOptions, loadExperiment } from '../src/config/index.ts'
import type { Plan } from '../src/contracts/index.ts'
import { EvsysError, type Problem } from '../src/kernel/index.ts'

/** The smallest experiment. */
export const minimal = `name: minimal
run:
  name: r
  data: { source_kind: in_memory, rows: [{ query: hi, tool_slug: greet }] }
  model: { name: mock }
  algorithm: { kind: sft, params: { max_steps: 1 } }
  backend: { kind: mock }
`

/** The plan of an experiment that is valid. */
export async function planOf(text: string, options: LoadOptions = {}): Promise<Plan> {
  return (await loadExperiment({ file: 'e.yaml', text }, { cwd: '/project', ...options })).plan
}

/** The problems of an experiment that is not valid. */
async function problemsIn(text: string, options: LoadOptions = {}): Promise<readonly Problem[]> {
  try {
    await planOf(text, options)
  } catch (error) {
    if (EvsysError.is(error)) return error.problems
    throw error
  }
  return []
}

/** The problems as `line:col CODE path: message`; those outside of the file start with its name. */
export async function faultsIn(text: string, options: LoadOptions = {}): Promise<string[]> {
  return (await problemsIn(text, options)).map(faultLine)
}

export function faultLine({ code, message, where }: Problem): string {
  if (where === undefined) return `${code} ${message}`
  const { file, line, col, path } = where
  return `${file === 'e.yaml' ? '' : `${file}:`}${line}:${col} ${code} ${path === undefined ? '' : `${path}: `}${message}`
}
