// Evaluations outside of runs, kept as files below `.evsys/evals`: the score, what was scored, by which scorer, and the answers.
// Repeated evaluation wears a benchmark out: the number of evaluations is reported with every score.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { Benchmark, Prediction, Scored } from '../../contracts/index.ts'
import { EvsysError, systemCode, writeFileAtomic } from '../../kernel/index.ts'

export const KeptEval = z.strictObject({
  version: z.literal(1),
  eval_id: z.string(),
  at: z.string(),
  model: z.string(),
  run_id: z.string().optional(),
  step: z.int().optional(),
  benchmark: Benchmark,
  folder: z.string(),
  scored: Scored,
  cost_usd: z.number().nullable(),
})
export type KeptEval = z.infer<typeof KeptEval>

function evalsFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'evals')
}

export async function keepEval(projectDir: string, kept: KeptEval, predictions: readonly Prediction[]): Promise<void> {
  const folder = evalsFolder(projectDir)
  await mkdir(folder, { recursive: true })
  const lines = predictions.map((each) => `${JSON.stringify(each)}\n`).join('')
  await writeFileAtomic(join(folder, `${kept.eval_id}.predictions.jsonl`), lines)
  await writeFileAtomic(join(folder, `${kept.eval_id}.json`), `${JSON.stringify(kept, null, 2)}\n`) // last: it says that all is there
}

/** Evaluations that are kept, in order of time. */
export async function keptEvals(projectDir: string): Promise<KeptEval[]> {
  const folder = evalsFolder(projectDir)
  let names: string[]
  try {
    names = await readdir(folder)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return []
    throw cause
  }
  const files = names.filter((name) => /^eval_[a-z0-9]+\.json$/.test(name)).sort()
  return Promise.all(files.map(async (name) => KeptEval.parse(JSON.parse(await readFile(join(folder, name), 'utf8')))))
}

export async function readKeptEval(
  projectDir: string,
  evalId: string,
): Promise<{ kept: KeptEval; predictions: Prediction[] } | undefined> {
  const kept = (await keptEvals(projectDir)).find(({ eval_id }) => eval_id === evalId)
  if (kept === undefined) return undefined
  const text = await readFile(join(evalsFolder(projectDir), `${evalId}.predictions.jsonl`), 'utf8').catch(
    (cause: unknown) => {
      throw new EvsysError('DATA_READ', `the answers of ${evalId} are gone`, { cause })
    },
  )
  return {
    kept,
    predictions: text.split('\n').flatMap((line) => (line === '' ? [] : [Prediction.parse(JSON.parse(line))])),
  }
}
