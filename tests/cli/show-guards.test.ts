import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ExperimentResult, type RunEvent } from '../../src/contracts/index.ts'
import { manualClock } from '../../src/kernel/index.ts'
import { concludeExperiment } from '../../src/lab/experiment/conclude-experiment.ts'
import { outputDirOf } from '../../src/record/files/experiment-folder.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

it('show and the conclusion tell of trips in words, those that stand (RL-405)', async () => {
  const cwd = folder()
  const { experimentId, runs } = await recordExperiment(cwd, { id: 'hacked', seeds: 1 })
  const [first] = runs
  if (first === undefined) throw new Error('no run')
  const clock = manualClock(Date.parse('2026-01-31T13:00:00Z'))
  {
    await using store = await openStore(join(cwd, '.evsys', 'evsys.db'), { clock })
    const stream = `run:${first.id}`
    const { nextEvent: seq, nextItem: fromSeq } = await store.cursor(stream)
    const base = { at: new Date(clock.now()).toISOString(), run_id: first.id }
    const tripped = { ...base, type: 'guard.tripped' as const }
    const events: RunEvent[] = [
      { ...tripped, seq, step: 7, reason: 'length_explosion', action: 'record', text: 'answers became 90 tokens long' },
      // Killed, and done again from step 3: the trip at step 8 happens again, the one before it stands no more.
      { ...base, seq: seq + 1, type: 'run.started', config_hash: 'c', attempt: 2, resumed_from_step: 3 },
      { ...tripped, seq: seq + 2, step: 8, reason: 'kl_blowup', action: 'roll_back', rolled_back_to: 3 },
      { ...tripped, seq: seq + 3, step: 9, reason: 'reward_hacking', action: 'stop' },
      { ...base, seq: seq + 4, type: 'run.finished', status: 'completed', metrics: {} },
    ]
    await store.push({ stream, fromSeq, items: events })
    const experiment = await store.findExperiment(experimentId)
    await concludeExperiment(store, experiment, { outputDir: outputDirOf(experiment, cwd), clock, wallS: 60 })
  }
  const { stdout } = await runMain(['show', experimentId], { cwd, env: { COLUMNS: '300' } })
  const back = `${first.name}: kl blowup at step 9: the policy moved too far; it resumed from step 4 at half the rate`
  const end = `${first.name}: reward hacking at step 10: the reward rose while the held-out verifier fell; the run was ended`
  for (const words of [back, end, `Guard of ${back}.`, `Guard of ${end}.`]) expect(stdout).toContain(words)
  expect(stdout).not.toContain('length explosion')
  const result = ExperimentResult.parse(JSON.parse((await runMain(['show', experimentId, '--json'], { cwd })).stdout))
  expect(result.guards).toMatchObject([
    { run: first.name, step: 8, reason: 'kl_blowup', action: 'roll_back', rolled_back_to: 3 },
    { run: first.name, step: 9, reason: 'reward_hacking', action: 'stop' },
  ])
  expect(result.conclusion?.text).toContain('reward hacking at step 10')
})
