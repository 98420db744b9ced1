import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { ExperimentResult } from '../../contracts/index.ts'
import { watchExperiment } from './experiment-hooks.ts'

const folder = temporaryFolders()
const scope = { experimentId: 'exp_1', experiment: 'test', outputDir: 'out', hypothesis: 'It works.' }
const result: ExperimentResult = {
  experiment_id: 'exp_1',
  name: 'test',
  status: 'completed',
  objective: null,
  best_arm: 'a',
  arms: [],
  conclusion: null,
  cost_usd: null,
  wall_s: 1,
}

function project(body: string): string {
  const dir = folder()
  mkdirSync(join(dir, 'src/plugins'), { recursive: true })
  writeFileSync(
    join(dir, 'src/plugins/bell.ts'),
    `import { defineCallback, z } from 'evsys/plugin'
     export default defineCallback({ kind: 'bell', summary: 'Rings.', params: z.strictObject({ tone: z.string() }), ${body} })`,
  )
  return dir
}

async function watch(dir: string) {
  const logged: string[] = []
  const callbacks = [{ kind: 'bell', params: { tone: 'ding' } }]
  const log = (level: string, text: string) => logged.push(`${level} ${text}`)
  await using watched = watchExperiment({ projectDir: dir, plugins: [], callbacks, log })
  await watched.call({ hook: 'onExperimentStart', scope })
  await watched.call({ hook: 'onGroupStart', scope, arm: 'a' })
  await watched.call({ hook: 'onExperimentEnd', scope, result })
  return logged
}

describe('the hooks of an experiment', { timeout: 120_000 }, () => {
  it('reach a callback of the project, in order, in a process that is not this one (LAB-51)', async () => {
    const logged = await watch(
      project(`async open({ params, log }) {
        const say = (text) => log('info', params.tone + ' ' + text + (process.pid === ${process.pid} ? ' HERE' : ''))
        return {
          onExperimentStart: (scope) => say('start ' + scope.experiment + ' ' + scope.hypothesis),
          onGroupStart: (scope, arm) => say('group ' + arm),
          onExperimentEnd: (scope, result) => say('end ' + result.best_arm),
          [Symbol.asyncDispose]: async () => say('closed'),
        } }`),
    )
    expect(logged).toEqual([
      'info ding start test It works.',
      'info ding group a',
      'info ding end a',
      'info ding closed',
    ])
  })

  it('cost nothing but a warning where a callback throws or ends its process (LAB-51)', async () => {
    const logged = await watch(
      project(`async open() { return {
        onExperimentStart() { throw new Error('rude') },
        onGroupStart() { process.exit(3) } } }`),
    )
    expect(logged[0]).toBe('warn callback "bell" failed in onExperimentStart: rude')
    expect(logged[1]).toMatch(/^warn the process of the callbacks ended before the experiment did/)
    expect(logged).toHaveLength(2)
  })
})
