// An experiment whose plugin attacks wherever it is loaded or called: `attack-beside FOLDER LEVEL`. In each process it kills the victim that
// has the name of its place, writes beside it, and leaves a daemon. Prints as one line of JSON which of that was done, what the hooks
// said, and whether the experiment and its record are whole.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemsOf, toRecord } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { processesWith } from '../processes-with.ts'

const [dir = '', level = 'auto', mark = ''] = process.argv.slice(2)
/** Where code of a project runs: processes in which it is loaded, and what is called in them. */
const places = [
  'plugin-child',
  'recipe-child',
  'watch-child',
  'evaluator-child',
  'worker-child',
  'rows',
  'start',
  'group',
  'end',
]
for (const name of ['.evsys', 'val', 'plugins']) mkdirSync(join(dir, name), { recursive: true })
const victims = places.map((place) => ({ place, child: spawn('/bin/sleep', ['600'], { stdio: 'ignore' }) }))
const verifier = { kind: 'in_process', fn_name: 'contains', expected: 'SECRET-ANSWER' }
writeFileSync(
  join(dir, 'val', 'tasks.jsonl'),
  `${JSON.stringify({ task_id: 'a', instruction: 'Say it.', verifier })}\n`,
)
const messages = ['user', 'assistant'].map((role) => ({ role, content: role }))
writeFileSync(join(dir, 'train.jsonl'), `${JSON.stringify({ messages })}\n`.repeat(4))
const pids = Object.fromEntries(victims.map(({ place, child }) => [place, child.pid]))
writeFileSync(
  join(dir, 'plugins', 'attack.ts'),
  `import { defineCallback, defineInferenceClient, defineTransform, z } from 'evsys/plugin'
import { spawn } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
const victims = ${JSON.stringify(pids)}
const dir = ${JSON.stringify(dir)}
function attack(place) {
  const done = []
  const attempt = (what, deed) => { try { deed(); done.push(what) } catch {} }
  attempt('killed', () => process.kill(victims[place], 'SIGKILL'))
  attempt('wrote', () => writeFileSync(dir + '/wrote-' + place, ''))
  attempt('appended', () => writeFileSync(dir + '/.evsys/evsys.db', '', { flag: 'a' }))
  attempt('renamed', () => renameSync(dir + '/train.jsonl', dir + '/train.jsonl'))
  attempt('read an answer', () => readFileSync(dir + '/val/tasks.jsonl'))
  try { spawn('/bin/sh', ['-c', "/usr/bin/setsid /bin/sh -c '/bin/sleep 600; :' ${mark} &"], { stdio: 'ignore' }).on('error', () => {}) } catch {}
  return done.join(', ')
}
attack(basename(process.argv[1]).split('.')[0])
const params = z.strictObject({})
export const rows = defineTransform({ kind: 'attack_rows', summary: 'Attacks.', params,
  async *run(rows) { attack('rows'); yield* rows } })
export const client = defineInferenceClient({ kind: 'attack_client', summary: 'Attacks.', params,
  open: async () => ({ generate: async () => ({ text: 'a', stopReason: 'stop', usage: { promptTokens: 1, completionTokens: 1, latencyS: 0 } }) }) })
export default defineCallback({ kind: 'attack', summary: 'Attacks.', params,
  open: async ({ log }) => ({
    onExperimentStart({ outputDir }) {
      log('info', 'start: ' + attack('start'))
      writeFileSync(outputDir + '/callbacks/mine', 'ours')
      writeFileSync(outputDir + '/elsewhere', '')
    },
    onGroupStart() { log('info', 'group: ' + attack('group')) },
    onExperimentEnd() { log('info', 'end: ' + attack('end')) },
  }) })
`,
)
writeFileSync(
  join(dir, 'experiment.yaml'),
  `version: 1
name: attacked
plugins: [./plugins/attack.ts]
metadata:
  hypothesis: A plugin attacks.
  benchmark: [{ name: val, path: ./val, metrics: [pass_rate], max_tokens: 4, inference: { kind: attack_client } }]
callbacks: [{ kind: attack, params: {} }]
run:
  data: { path: ./train.jsonl, transforms: [{ kind: attack_rows, params: {} }] }
  model: { name: evsys/tiny }
  algorithm: { kind: sft, params: { max_steps: 2, batch_size: 1 } }
  backend: { kind: mock }
`,
)
try {
  const result = await runExperiment(join(dir, 'experiment.yaml'), {
    projectDir: dir,
    sandbox: level === 'bubblewrap' || level === 'chroot' || level === 'process' ? level : 'auto',
  })
  const killed = victims.filter(({ child }) => child.signalCode !== null).map(({ place }) => place)
  const wrote = readdirSync(dir).flatMap((name) => (name.startsWith('wrote-') ? [name.slice('wrote-'.length)] : []))
  const left = processesWith(mark)
  const kept = readdirSync(join(dir, '.evsys', 'runs')).flatMap((name) => {
    const file = join(dir, '.evsys', 'runs', name, 'callbacks', 'mine')
    return existsSync(file) ? [readFileSync(file, 'utf8')] : []
  })
  const { status, notices = [], recipe_code, arms } = result
  const error = arms.find((arm) => arm.error !== undefined)?.error
  console.log(
    JSON.stringify({ status, failed: error, notices, code: recipe_code, killed, wrote, left: left.length, kept }),
  )
  for (const pid of left) process.kill(-pid, 'SIGKILL')
} catch (error) {
  console.log(JSON.stringify({ error: problemsOf(error).map((each) => toRecord(each)) }))
} finally {
  for (const { child } of victims) child.kill('SIGKILL')
}
