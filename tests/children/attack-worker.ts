// An experiment in which every run but the last attacks: `attack-worker FOLDER LEVEL`. The folder holds `attacks.json`, a list of programs in
// JavaScript; run N executes the Nth when its training starts, the last run trains honestly beside them. Prints as one line of JSON how each
// run ended, what it said, and what is left of the project.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemsOf, toRecord } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { requireTraining } from '../../src/store/index.ts'

const [dir = '', level = 'auto'] = process.argv.slice(2)
const attacks: string[] = JSON.parse(readFileSync(join(dir, 'attacks.json'), 'utf8'))
for (const name of ['.evsys', 'val', 'plugins']) mkdirSync(join(dir, name), { recursive: true })
const verifier = { kind: 'in_process', fn_name: 'contains', expected: 'SECRET-ANSWER' }
writeFileSync(
  join(dir, 'val', 'tasks.jsonl'),
  `${JSON.stringify({ task_id: 'a', instruction: 'Say it.', verifier })}\n`,
)
const messages = ['user', 'assistant'].map((role) => ({ role, content: role }))
const rows = `${JSON.stringify({ messages })}\n`.repeat(4)
writeFileSync(join(dir, 'train.jsonl'), rows)
writeFileSync(
  join(dir, 'plugins', 'attack.ts'),
  `import { defineCallback, z } from 'evsys/plugin'
import { createRequire } from 'node:module'
const attacks = ${JSON.stringify(attacks)}
export default defineCallback({ kind: 'attack', summary: 'Attacks.', params: z.strictObject({}),
  open: async ({ log }) => ({
    async onTrainStart({ run }) {
      const source = attacks[Math.round(run.config.algorithm.params.learning_rate * 1000) - 1]
      if (source === undefined) return
      const say = (text) => log('info', 'SAID ' + text)
      const attack = new Function('require', 'runDir', 'say', 'return (async () => {' + source + '})()')
      try { await attack(createRequire('/'), run.dir, say) } catch (error) { say('threw ' + error.code + ' ' + error.message) }
    },
  }) })
`,
)
const rates = [...attacks, ''].map((_, i) => (i + 1) / 1000)
writeFileSync(
  join(dir, 'experiment.yaml'),
  `version: 1
name: attacked
plugins: [./plugins/attack.ts]
metadata:
  hypothesis: A recipe attacks.
  benchmark: [{ name: val, path: ./val, metrics: [pass_rate], max_tokens: 4 }]
callbacks: [{ kind: attack, params: {} }]
matrix:
  axes: { algorithm.params.learning_rate: [${rates.join(', ')}] }
  base_run:
    data: { path: ./train.jsonl }
    model: { name: evsys/tiny }
    algorithm: { kind: sft, params: { max_steps: 2, batch_size: 1 } }
    backend: { kind: mock }
`,
)
const runs = rates.map(() => ({ said: [] as string[], ended: 'never', message: '', sandbox: '' }))
try {
  await runExperiment(join(dir, 'experiment.yaml'), {
    projectDir: dir,
    sandbox: level === 'bubblewrap' || level === 'chroot' || level === 'process' ? level : 'auto',
    maxConcurrent: 2,
    limits: { memoryMb: 2500, processes: 150, diskMb: 100 },
    onItem(row, item) {
      const { config } = requireTraining(row)
      const run = runs[Math.round(Number(config.algorithm.params.learning_rate) * 1000) - 1]
      if (run === undefined) return
      if (item.type === 'log' && item.text.startsWith('SAID ')) run.said.push(item.text.slice(5))
      if (item.type === 'run.started') run.sandbox = item.sandbox ?? 'unknown'
      if (item.type === 'run.finished')
        Object.assign(run, { ended: item.error?.code ?? item.status, message: item.error?.message })
    },
  })
  const read = (...path: string[]) => readFileSync(join(dir, ...path), 'utf8')
  const isWhole = read('val', 'tasks.jsonl').includes('SECRET') && read('train.jsonl').length === rows.length
  const record = read('.evsys', 'evsys.db').slice(0, 13)
  console.log(JSON.stringify({ runs, files: readdirSync(dir).sort(), record, isWhole }))
} catch (error) {
  console.log(JSON.stringify({ error: problemsOf(error).map((each) => toRecord(each)), runs }))
}
