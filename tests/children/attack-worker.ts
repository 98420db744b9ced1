// A project whose recipe attacks while a sibling run trains honestly: `attack-worker FOLDER LEVEL`, the code of the attack being the file
// `attack.mjs` of the folder. Prints as one line of JSON what the attack said, how both runs ended, and what is left of the project.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodeOf } from '../../src/cli/context/command-context.ts'
import { problemsOf, toRecord } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'

const [dir = '', level = 'auto'] = process.argv.slice(2)
mkdirSync(join(dir, '.evsys'), { recursive: true })
mkdirSync(join(dir, 'val'), { recursive: true })
mkdirSync(join(dir, 'plugins'), { recursive: true })
const task = { task_id: 'a', instruction: 'Say it.', verifier: { kind: 'in_process', fn_name: 'contains', expected: 'SECRET-ANSWER' } }
writeFileSync(join(dir, 'val', 'tasks.jsonl'), `${JSON.stringify(task)}\n`)
const row = { messages: [{ role: 'user', content: 'a?' }, { role: 'assistant', content: 'b' }] }
writeFileSync(join(dir, 'train.jsonl'), `${JSON.stringify(row)}\n`.repeat(4))
writeFileSync(
  join(dir, 'plugins', 'attack.ts'),
  `import { defineCallback, z } from 'evsys/plugin'
import { readFileSync } from 'node:fs'
export default defineCallback({ kind: 'attack', summary: 'Attacks.', params: z.strictObject({}),
  open: async ({ log }) => ({
    async onTrainStart(scope) {
      if (scope.run.config.algorithm.params.learning_rate !== 0.1) return
      const source = readFileSync(${JSON.stringify(join(dir, 'attack.mjs'))}, 'utf8')
      const attack = new Function('require', 'scope', 'say', 'return (async () => {' + source + '})()')
      const { createRequire } = await import('node:module')
      const said = []
      try { await attack(createRequire("/"), { runDir: scope.run.dir }, (text) => said.push(String(text))) }
      catch (error) { said.push('threw ' + error.code + ' ' + error.message) }
      log('info', 'SAID ' + JSON.stringify(said))
    },
  }) })
`,
)
writeFileSync(
  join(dir, 'experiment.yaml'),
  `version: 1
name: attacked
plugins: [./plugins/attack.ts]
metadata:
  hypothesis: The recipe attacks.
  benchmark: [{ name: val, path: ./val, metrics: [pass_rate], max_tokens: 4 }]
callbacks: [{ kind: attack, params: {} }]
matrix:
  axes: { algorithm.params.learning_rate: [0.1, 0.2] }
  base_run:
    data: { path: ./train.jsonl }
    model: { name: evsys/tiny }
    algorithm: { kind: sft, params: { max_steps: 2, batch_size: 1 } }
    backend: { kind: mock }
`,
)
const said: string[] = []
const ended: Record<string, unknown> = {}
try {
  const result = await runExperiment(join(dir, 'experiment.yaml'), {
    projectDir: dir,
    sandbox: level === 'bubblewrap' || level === 'chroot' ? level : 'auto',
    maxConcurrent: 2,
    limits: { memoryMb: 3000, processes: 200, diskMb: 200 },
    onItem(run, item) {
      if (item.type === 'log' && item.text.startsWith('SAID ')) said.push(...JSON.parse(item.text.slice(5)))
      if (item.type === 'run.finished') ended[run.name] = item.error ?? item.status
      if (item.type === 'run.started') ended[`${run.name} sandbox`] = item.sandbox
    },
  })
  const files = readdirSync(dir).sort()
  const database = readFileSync(join(dir, '.evsys', 'evsys.db')).subarray(0, 15).toString()
  const train = readFileSync(join(dir, 'train.jsonl'), 'utf8').length
  const tasks = readFileSync(join(dir, 'val', 'tasks.jsonl'), 'utf8').includes('SECRET-ANSWER')
  const left = existsSync('/tmp/evsys-attack-mark')
  console.log(JSON.stringify({ status: result.status, said, ended, files, database, train, tasks, left }))
} catch (error) {
  const problems = problemsOf(error)
  console.log(JSON.stringify({ error: problems.map((each) => toRecord(each)), said, ended }))
  process.exitCode = exitCodeOf(problems)
}
