// Whole research sessions over an experiment file, from a poor recipe to a confirmed winner, with no key: what they end with on the hidden
// split beside the recipe that a person found, and what their trainings went into.
//   node bench/research-session.mjs [tool-router|rl-arithmetic] [--seed 0] [--again] [--keep] [-- OPTIONS OF RESEARCH RUN]
// --again copies the folder of the winner into an empty project and runs it: its score has to be the same to the digit.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Test scores of the recipes of the examples, by the tables of their pages, and how far below them a winner may be. */
/** @type {Record<string, { file: string, tuned: number, within: number, wallS: number, runs: number }>} */
const examples = {
  'tool-router': { file: 'poor.yaml', tuned: (0.936 + 0.917 + 0.926) / 3, within: 0.02, wallS: 1500, runs: 40 },
  'rl-arithmetic': { file: 'poor.yaml', tuned: (0.323 + 0.333 + 0.281) / 3, within: 0.02, wallS: 1500, runs: 40 },
}
const own = process.argv.slice(2)
const more = own.includes('--') ? own.slice(own.indexOf('--') + 1) : []
const { values, positionals } = parseArgs({
  args: own.includes('--') ? own.slice(0, own.indexOf('--')) : own,
  allowPositionals: true,
  options: { seed: { type: 'string', default: '0' }, again: { type: 'boolean' }, keep: { type: 'boolean' } },
})
const name = positionals[0] ?? 'tool-router'
const example = examples[name]
if (example === undefined) throw new Error(`no example is called ${name}: ${Object.keys(examples).join(', ')}`)

const project = mkdtempSync(join(tmpdir(), `evsys-session-${name}-`))
cpSync(join(root, 'examples', name), project, { recursive: true, filter: (path) => !path.includes('.evsys') })
mkdirSync(join(project, '.evsys'), { recursive: true })
const { ANTHROPIC_API_KEY: _key, ...withoutKey } = process.env
/** @param {string[]} args @param {string} cwd @returns {Promise<{ code: number, text: string }>} */
const evsys = (args, cwd) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'bin', 'evsys.js'), ...args], {
      cwd,
      env: withoutKey,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, text }))
  })

const began = performance.now()
const load = loadavg()[0]
const { code, text } = await evsys(['research', 'run', example.file, '--json', '--seed', values.seed, ...more], project)
const wallS = (performance.now() - began) / 1000
const session = JSON.parse(text)
if (session.errors !== undefined) throw new Error(`the session ended with ${code}: ${JSON.stringify(session.errors)}`)
const { claim, winner, spend, attempts, end } = session
for (const { id, title, verdict, score, wall_s, n_runs, reason } of attempts) {
  const line = [
    id,
    verdict ?? '-',
    score === null ? '-' : `${score.mean.toFixed(3)} (${score.n})`,
    `${n_runs} runs`,
    `${Math.round(wall_s)} s`,
  ]
  console.log(`${line.join('\t')}\t${title}\n\t\t${reason ?? ''}`)
}
const found = claim?.scores.treatment ?? null
const isGood = {
  confirmed: claim?.verdict === 'supported',
  score: found !== null && found >= example.tuned - example.within,
  time: wallS <= example.wallS,
  trainings: spend.runs <= example.runs,
}
const summary = {
  example: name,
  seed: Number(values.seed),
  test: found,
  tuned: example.tuned,
  verdict: claim?.verdict ?? null,
  effect: claim?.effect ?? null,
  interval: claim?.interval ?? null,
  experiments: session.n_experiments,
  trainings: spend.runs,
  wall_s: Math.round(wallS),
  load_before: load,
  end: end?.reason,
  winner: winner?.folder ?? null,
  again: values.again && winner != null ? await runAgain() : null,
  isGood,
}
console.log(JSON.stringify(summary, undefined, 2))
if (values.keep) console.log(project)
else rmSync(project, { recursive: true, force: true })
process.exitCode = Object.values(isGood).every(Boolean) && summary.again !== false ? 0 : 1

async function runAgain() {
  const empty = mkdtempSync(join(tmpdir(), 'evsys-winner-'))
  for (const part of ['data', winner.folder]) cpSync(join(project, part), join(empty, part), { recursive: true })
  const again = await evsys(['run', join(winner.folder, 'config.yaml'), '--json'], empty)
  const expected = JSON.parse(readFileSync(join(project, winner.folder, 'expected.json'), 'utf8'))
  const score = JSON.parse(again.text).arms?.[0]?.score?.mean
  rmSync(empty, { recursive: true, force: true })
  return score === Object.entries(expected).find(([key]) => key.includes('.'))?.[1]
}
