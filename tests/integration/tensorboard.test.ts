// The files of tensorboard_logger, read back by TensorBoard's own reader.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as z from 'zod'
import { tensorboardLogger } from '../../src/builtins/tensorboard-logger.ts'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { root, runMain } from '../cli/run-main.ts'
import { writeSmallLab } from '../cli/small-lab.ts'
import { needs } from '../needs.ts'
import { pluginContext } from '../plugin-context.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { watchedRun, watchSteps } from '../watched-run.ts'

const version = '2.20.0'
const home = join(root, '.tmp', `tensorboard-${version}`)
const python = join(home, 'bin', 'python3')
const folder = temporaryFolders()

const reader = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0})
events.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()['scalars']}))
`

/** Installs TensorBoard once, below .tmp. */
function install(): true {
  if (existsSync(join(home, 'complete'))) return true
  mkdirSync(home, { recursive: true })
  execFileSync('python3', ['-m', 'venv', '--clear', home], { stdio: 'pipe' })
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', `tensorboard==${version}`], { stdio: 'pipe' })
  writeFileSync(join(home, 'complete'), '')
  return true
}

const Scalars = z.record(z.string(), z.array(z.tuple([z.int(), z.number()])))

/** Every scalar that TensorBoard finds in a folder. */
function scalarsIn(dir: string): z.infer<typeof Scalars> {
  return Scalars.parse(JSON.parse(execFileSync(python, ['-c', reader, dir], { encoding: 'utf8' })))
}

const tensorboard = needs('TensorBoard (python3 with venv, and PyPI)', install)

tensorboard.describe('TensorBoard', () => {
  tensorboard.it('reads the tags, steps and values of the record (LAB-47)', async () => {
    const cwd = folder()
    writeSmallLab(cwd, {
      file: { n_repeats: 1, callbacks: [{ kind: 'tensorboard_logger', params: { log_dir: 'tb' } }] },
    })
    const { code, stdout } = await runMain(['run', 'config.yaml', '--json'], { cwd })
    expect(code).toBe(0)
    await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
    const runs = await store.runs(ExperimentResult.parse(JSON.parse(stdout)).experiment_id)
    expect(runs).toHaveLength(2)
    for (const { id, name } of runs) {
      const scores = (await store.evals(id)).flatMap(({ step, metrics }) =>
        step === undefined ? [] : [[step, Math.fround(metrics['pass@1'] ?? Number.NaN)]],
      )
      const recorded: Record<string, number[][]> = { 'val/val/pass@1': scores }
      for (const key of await store.metricKeys(id)) {
        const curve = await store.curve({ runId: id, key, maxPoints: 1000 })
        recorded[key] = curve.map(({ step, mean }) => [step, Math.fround(mean)]) // event files hold 32 bits
      }
      expect(scalarsIn(join(cwd, 'tb', name))).toEqual(recorded)
    }
  })

  tensorboard.it('takes what comes after a roll-back for what came before it (LAB-47)', async () => {
    const run = watchedRun(folder())
    const hooks = await tensorboardLogger.open(pluginContext(tensorboardLogger))
    await hooks.onTrainStart?.(run.at(0))
    await watchSteps(hooks, run, 0, 5)
    await hooks.onTrainStart?.(run.at(3))
    await watchSteps(hooks, run, 3, 6)
    await hooks[Symbol.asyncDispose]?.()
    const losses = [0, 1, 2, 3, 4, 5].map((step) => [step, Math.fround(1 / (step + 1))])
    expect(scalarsIn(join(run.dir, 'tb')).loss).toEqual(losses)
  })
})
