// A research task of a second, to try the executor on: mean squared error of a regression in plain Node or in Python.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { type ResearchTask, TaskFile, type TaskProgram } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { bundledTasks } from '../../research/index.ts'

/** Programs, scorers and candidates of the task. */
export const lineFiles = join(bundledTasks, 'shared', 'line')

/** Programs of candidates, with holes. */
export const programs = z
  .record(z.enum(['attack', 'training', 'loading', 'network', 'node', 'python']), z.string())
  .parse(parse(readFileSync(join(lineFiles, 'programs.yaml'), 'utf8')))

/** The text with its holes filled; others stay. */
export function filled(text: string, holes: Readonly<Record<string, string | number | undefined>>): string {
  return text.replaceAll(/\{\{([\w ]+)\}\}/g, (hole, name: string) => String(holes[name] ?? hole))
}

/** Of the labels: the error of a candidate that knows the true line. */
const noise = 0.1

/** No one without the labels comes below this: half the variance of their noise. */
export const unearned = 0.5 * (noise * 2) ** 2 * (3 / 12)

/** The task in `dir`, with its data. Validation labels stand in `dir/sealed` alone. */
export function lineTask(
  dir: string,
  language: 'node' | 'python' = 'node',
  more: {
    readonly trainSeconds?: number | undefined
    /** The scorer reads the checkpoint instead of asking. */
    readonly checkpoint?: boolean | undefined
    readonly program?: Partial<TaskProgram> | undefined
  } = {},
): ResearchTask {
  const source = join(lineFiles, language)
  cpSync(source, dir, { recursive: true })
  cpSync(join(lineFiles, more.checkpoint === true ? 'checkpoint-scorer.mjs' : 'scorer.mjs'), join(dir, 'scorer.mjs'))
  const [trainData, sealedData] = [join(dir, 'data'), join(dir, 'sealed')]
  mkdirSync(trainData)
  mkdirSync(sealedData, { mode: 0o700 })
  writeFileSync(join(trainData, 'train.json'), JSON.stringify(rows('train', 400)))
  for (const split of ['val', 'test']) {
    mkdirSync(join(sealedData, split))
    writeFileSync(join(sealedData, split, 'rows.json'), JSON.stringify(rows(split, 100)), { mode: 0o600 })
  }
  const [entry, api] = language === 'node' ? ['train.mjs', 'api.mjs'] : ['train.py', 'api.py']
  const text = (file: string) => readFileSync(join(source, file), 'utf8')
  const command = `${language === 'node' ? 'node' : 'python3'} ${entry}`
  const scope = language === 'node' ? ['train.mjs', 'lib/**/*.mjs'] : ['train.py', 'lib/**/*.py']
  const offLimits = ['lib/frozen/**']
  return {
    name: 'line',
    dir,
    scope,
    offLimits,
    file: TaskFile.parse({
      name: 'line',
      run: command,
      metric: 'mse',
      direction: 'min',
      scope,
      off_limits: offLimits,
      scorer: 'scorer.mjs',
      api,
    }),
    metric: 'mse',
    direction: 'min',
    seeds: [1, 2, 3],
    trainSeconds: more.trainSeconds ?? 1,
    secondary: [],
    baseline: { [entry]: text(entry) },
    knobs: {},
    prompt: '',
    program: {
      language,
      command,
      api: { [api]: text(api) },
      scorer: join(dir, 'scorer.mjs'),
      trainData,
      sealedData,
      packages: [],
      requiredCalls: [],
      mounts: [],
      env: {},
      memoryBytes: 512 * 2 ** 20,
      processes: 64,
      diskBytes: 64 * 2 ** 20,
      startSeconds: 10,
      answerSeconds: 20,
      scorerSeconds: 120,
      ...more.program,
    },
    hash: 'line',
  }
}

const weights = [1.5, -2, 0.5, 0, 1, -0.5, 0.25, 2]

function rows(split: string, count: number) {
  const draw = keyedRandom(0, 'line', split)
  return Array.from({ length: count }, () => {
    const x = weights.map(() => Math.round((draw.float() * 2 - 1) * 1e4) / 1e4)
    const y = 0.7 + x.reduce((sum, each, i) => sum + each * (weights[i] ?? 0), 0)
    return { x, y: y + noise * (draw.float() + draw.float() + draw.float() - 1.5) * 2 }
  })
}
