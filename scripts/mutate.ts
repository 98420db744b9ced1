// How much the tests beside a room's code notice: its mutants, how many of them a test catches, and those that live on.
//   npx jiti scripts/mutate.ts ROOM [--again] [--slow]      ROOM: stats | config | evidence | keep
// --again asks tests that were changed since about mutants that lived on in the last run, of the same sources; --slow asks
// tests too that take more than a quarter of a second. docs/benchmarks/mutation.md holds the results.
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type Mutant, switchMutants } from './mutants.ts'

const rooms: Readonly<Record<string, string>> = {
  stats: 'src/stats',
  config: 'src/config',
  evidence: 'src/record/evidence',
  keep: 'src/research/keep',
}
// Simulations that take seconds of processor time for each mutant; they may notice what the others do not.
const slow = ['src/stats/false-claims.test.ts', 'src/stats/interval-coverage.test.ts']
/** Without a new mutant for so long the process hangs, and the mutant it is at counts as endless. */
const stalledMs = 120_000

const [name = '', ...flags] = process.argv.slice(2)
const room = rooms[name]
if (room === undefined) throw new Error(`a room is one of ${Object.keys(rooms).join(', ')}`)
const folder = `.tmp/mutation/${name}`
const log = `${folder}/log.tsv`

const files = readdirSync(room)
  .sort()
  .map((file) => `${room}/${file}`)
const sources = files.filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
const mutants: Mutant[] = []
const codes: Record<string, string> = {}
for (const file of sources) {
  const made = switchMutants(file, readFileSync(file, 'utf8'), mutants.length)
  codes[file] = made.code
  mutants.push(...made.mutants)
}
if (!flags.includes('--again')) rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
if (existsSync(log)) {
  // Files of tests that were written since have another turn.
  const { mtimeMs: before } = statSync(`${folder}/mutants.json`)
  const isKept = (line: string) => {
    const [, test] = /^asked\t.*? (\S+) > /.exec(line) ?? []
    return test === undefined || (existsSync(test) && statSync(test).mtimeMs < before)
  }
  writeFileSync(log, readFileSync(log, 'utf8').split('\n').filter(isKept).join('\n'))
}
writeFileSync(`${folder}/mutants.json`, JSON.stringify(mutants))
writeFileSync(`${folder}/codes.json`, JSON.stringify(codes))

// Most mutants are caught by the quick tests of their own file; then the other quick tests are asked, and the slow ones last.
const passes = [
  { near: 'near', slowestMs: 250 },
  { near: 'far', slowestMs: 60 },
  ...(flags.includes('--slow') ? [{ near: 'near', slowestMs: 4_000 }] : []),
]
for (const pass of passes) {
  while (!(await ranToItsEnd(pass))) {
    const [id, test] = readFileSync(`${folder}/current`, 'utf8').split('\t')
    appendFileSync(log, `endless\t${id}\t${test}\n`)
  }
}
report()

/** False when a mutant hung the process, which is ended then, or ended it, as one does that fills the memory. */
async function ranToItsEnd({ near, slowestMs }: { near: string; slowestMs: number }): Promise<boolean> {
  const tests = files.filter((file) => file.endsWith('.test.ts') && !slow.includes(file))
  rmSync(`${folder}/current`, { force: true })
  const child = spawn('node_modules/.bin/vitest', ['run', '--config', 'vitest.mutation.config.ts'], {
    env: {
      ...process.env,
      EVSYS_MUTATION: folder,
      EVSYS_MUTATION_PASS: near,
      EVSYS_MUTATION_SLOWEST_MS: String(slowestMs),
      EVSYS_MUTATION_TESTS: tests.join(','),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  const end = () => process.kill(-(child.pid as number), 'SIGKILL')
  const stop = () => {
    end()
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  const watch = setInterval(() => {
    const found = statSync(`${folder}/current`, { throwIfNoEntry: false })
    if (found !== undefined && Date.now() - found.mtimeMs >= stalledMs) end()
  }, 1_000)
  const code = await new Promise((done) => child.once('exit', done))
  clearInterval(watch)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  if (existsSync(`${folder}/current`)) return false
  if (code !== 0) throw new Error('the tests fail without any mutant')
  return true
}

function report(): void {
  const statuses = new Map<number, string>()
  const aside: string[] = []
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [what = '', id, test] = line.split('\t')
    if (what === 'once') aside.push(`cannot be repeated: ${test}`)
    else if (what === 'reached') statuses.set(Number(id), statuses.get(Number(id)) ?? 'survived')
    else if (what !== '' && what !== 'asked') statuses.set(Number(id), what)
  }
  const of = (file: string | undefined, status: string) =>
    mutants.filter(
      (one) => (file === undefined || one.file === file) && (statuses.get(one.id) ?? 'unreached') === status,
    )
  for (const { file, line, kind, before, after } of of(undefined, 'survived')) {
    console.log(`${file}:${line} ${kind}: ${before} -> ${after}`)
  }
  for (const line of new Set(aside)) console.log(line)
  for (const file of [...sources, undefined]) {
    const [killed, endless, survived, unreached] = ['killed', 'endless', 'survived', 'unreached'].map(
      (status) => of(file, status).length,
    ) as [number, number, number, number]
    const noticed = killed + endless
    const share = noticed + survived === 0 ? '' : `${((100 * noticed) / (noticed + survived)).toFixed(1)} %`
    console.log(
      `${file ?? name}: ${noticed + survived + unreached} mutants, ${noticed} killed (${endless} endless), ${survived} survived, ${unreached} unreached: ${share}`,
    )
  }
}
