// What a checkout does, as files that can be compared: the JSON of every command on fixed projects, and the canonical records that
// its experiments leave. Two checkouts behave alike where `diff -r` finds nothing between their folders. Ids, times, costs and
// paths of the checkout are replaced; everything else is kept byte by byte.
//   node scripts/record-behaviour.mjs CHECKOUT OUT      (CHECKOUT is built: npm run build)

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [checkoutArgument, outArgument] = process.argv.slice(2)
if (checkoutArgument === undefined || outArgument === undefined) {
  console.error('usage: node scripts/record-behaviour.mjs CHECKOUT OUT')
  process.exit(2)
}
const checkout = resolve(checkoutArgument)
const out = resolve(outArgument)
const work = join(tmpdir(), 'evsys-behaviour') // one place for every checkout: paths are part of what is printed
rmSync(work, { recursive: true, force: true })
rmSync(out, { recursive: true, force: true })
mkdirSync(work, { recursive: true })
mkdirSync(out, { recursive: true })

let count = 0

/**
 * Runs a command with --json and keeps what it prints.
 * @param {string} project
 * @param {...string} args
 * @returns {any}
 */
function evsys(project, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'bin/evsys.js'), '--json', ...args], {
    cwd: join(work, project),
    encoding: 'utf8',
    env: { ...process.env, EVSYS_ENGINE: 'wasm', NO_COLOR: '1', ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '' },
    maxBuffer: 1 << 28,
  })
  const words = args.slice(0, 3).map((word) => word.replace(/^(exp|run|eval)_.*/, '$1'))
  const name =
    `${String(++count).padStart(3, '0')}-${project}-${words.join('-').replaceAll(/[^a-z0-9-]+/gi, '_')}`.slice(0, 100)
  writeFileSync(join(out, `${name}.json`), stable(`exit ${status}\n${stdout}`))
  if (status !== 0) writeFileSync(join(out, `${name}.err`), stable(stderr))
  process.stderr.write(`${name}: ${status}\n`)
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}

/** @type {Map<string, string>} */
const known = new Map()

/**
 * Replaces what differs between two runs of one program.
 * @param {string} text
 */
function stable(text) {
  return text
    .replaceAll(checkout, 'CHECKOUT')
    .replaceAll(/\b(exp|run|eval|job|ses|lease|kept)_[0-9a-z]{10,}/g, (id, kind) => {
      if (!known.has(id)) known.set(id, `${kind}_${known.size + 1}`)
      return known.get(id) ?? id
    })
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}(?:[.-]\d+)?Z?/g, 'TIME')
    .replaceAll(
      /"((?:\w*_)?(?:seconds|wall_s|wallS|latency_s|latencyS|duration|duration_s|_ms|bytes|size|size_bytes|sizeBytes|free|at|created_at|updated_at|started_at|finished_at|cost_usd|costUsd|time_per_task|latency_p50|latency_p95|peak_memory_gb|memory_gb|per_hour|startS|free_gb|pid))": ?-?[\d.e+-]+/g,
      '"$1": N',
    )
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|seconds|minutes|min|MB|kB|GB|bytes)\b/g, 'N unit')
}

/**
 * @param {string} project
 */
async function records(project) {
  const { openStore } = await import(pathToFileURL(join(checkout, 'dist/store/index.js')).href)
  const store = await openStore(join(work, project, '.evsys/evsys.db'))
  try {
    const experiments = await store.experiments({ limit: 50 })
    for (const [i, { id, name }] of experiments.entries()) {
      const record = await store.canonicalRecord(id)
      const text = JSON.stringify(record, null, 1)
      writeFileSync(
        join(out, `record-${project}-${experiments.length - i}-${name.replaceAll(/[^a-z0-9-]+/gi, '_')}.json`),
        stable(text),
      )
      process.stderr.write(
        `record ${project} ${name}: ${createHash('sha256').update(text).digest('hex').slice(0, 12)}\n`,
      )
    }
  } finally {
    await store[Symbol.asyncDispose]()
  }
}

/**
 * Every command that reads, on the experiments of a project.
 * @param {string} project
 */
function readAll(project) {
  const history = evsys(project, 'history') ?? []
  const ids = history.map((/** @type {{ experiment_id: string }} */ each) => each.experiment_id)
  for (const id of ids) {
    evsys(project, 'show', id)
    evsys(project, 'export', id)
    evsys(project, 'repro', id)
    evsys(project, 'rescore', id)
  }
  if (ids.length > 1) evsys(project, 'compare', ...ids)
  evsys(project, 'next')
  evsys(project, 'du')
}

/**
 * An example, trained for a few steps with one seed.
 * @param {string} name
 * @param {string[]} more
 */
async function example(name, more) {
  cpSync(join(checkout, 'examples', name), join(work, name), {
    recursive: true,
    filter: (file) => !/\.evsys|node_modules/.test(file),
  })
  mkdirSync(join(work, name, '.evsys'), { recursive: true })
  evsys(name, 'validate', 'experiment.yaml', '--deep')
  evsys(name, 'run', 'experiment.yaml', '--set', 'n_repeats=1', '--max-concurrent', '1', ...more)
  await records(name)
  readAll(name)
}

// A project from nothing: the quickstart, and everything that a user can ask of it.
mkdirSync(join(work, 'empty'))
evsys('empty', 'init', '../quickstart')
evsys('quickstart', 'validate', 'experiments/quickstart/config.yaml', '--deep')
evsys(
  'quickstart',
  'validate',
  'experiments/quickstart/config.yaml',
  '--set',
  'n_repeats=0',
  '--set',
  'algorithm.kind=sfft',
)
evsys('quickstart', 'run', 'experiments/quickstart/config.yaml', '--max-concurrent', '1')
await records('quickstart')
const [first] = evsys('quickstart', 'history') ?? []
if (first !== undefined) {
  const shown = evsys('quickstart', 'show', first.experiment_id)
  evsys('quickstart', 'show', first.experiment_id, '--data')
  evsys('quickstart', 'conclude', first.experiment_id, 'Forty steps are enough.')
  const [run] = shown?.runs ?? []
  if (run !== undefined) evsys('quickstart', 'invalidate', run.run_id ?? run.id, '--reason', 'a trial')
  evsys('quickstart', 'eval', 'evsys/tiny', '--benchmark', 'data/val', '--max-tokens', '8', '--limit', '4')
}
evsys('quickstart', 'new-experiment', 'second')
evsys('quickstart', 'validate', 'experiments/second/config.yaml')
evsys('quickstart', 'run', 'experiments/quickstart/config.yaml', '--dry', '--max-concurrent', '1')
evsys('quickstart', 'dataset', 'add', 'shop', 'data/train.jsonl')
evsys('quickstart', 'dataset', 'list')
evsys('quickstart', 'benchmark', 'upload', 'data/val', '--name', 'shop-val')
evsys(
  'quickstart',
  'benchmark',
  'run',
  '--name',
  'shop-val',
  '--model',
  'evsys/tiny',
  '--max-tokens',
  '8',
  '--limit',
  '4',
)
evsys('quickstart', 'db', 'migrate')
evsys('quickstart', 'gc')
readAll('quickstart')

// What the package knows.
const listed = evsys('quickstart', 'list') ?? []
for (const what of ['experiment', 'task']) evsys('quickstart', 'schema', what)
const plugins = Array.isArray(listed) ? listed : (listed.plugins ?? [])
for (const { type, kind } of plugins) evsys('quickstart', 'schema', type, kind)
for (const shell of ['bash', 'zsh', 'fish', 'powershell']) evsys('quickstart', 'completion', shell)
for (const wrong of [
  ['frob'],
  ['run'],
  ['run', 'missing.yaml'],
  ['show', 'nothing'],
  ['schema', 'verifier', 'nothing'],
  ['research', 'status'],
  ['import', 'missing.json'],
])
  evsys('quickstart', ...wrong)

// Research on a task from the scaffold: ideas of a cassette, then those of the optimiser.
mkdirSync(join(work, 'research', '.evsys'), { recursive: true })
evsys('research', 'task', 'init', 'curve')
evsys('research', 'task', 'validate', 'curve')
evsys('research', 'task', 'list')
const tape = Array.from({ length: 10 }, (_, i) => ({
  key: '*',
  reply: [
    {
      title: `degree ${3 + i}`,
      hypothesis: 'More bends.',
      family: 'degree',
      category: 'architectural',
      cost: 'same',
      parents: [],
      change: { kind: 'knobs', knobs: { DEGREE: 3 + (i % 9), LEARNING_RATE: 0.05 * (i + 1) } },
    },
  ],
  usage: { promptTokens: 4000 + 37 * i, completionTokens: 611 + 13 * i, latencyS: 1, costUsd: 0.02 },
}))
writeFileSync(join(work, 'research', 'tape.jsonl'), `${tape.map((line) => JSON.stringify(line)).join('\n')}\n`)
const session = ['--task', 'curve', '--workers', '1', '--seed', '7']
evsys(
  'research',
  'research',
  'run',
  ...session,
  '--max-experiments',
  '10',
  '--proposer',
  'replay',
  '--proposer-params',
  JSON.stringify({ file: join(work, 'research', 'tape.jsonl') }),
)
await records('research')
evsys('research', 'research', 'status', '--task', 'curve')
evsys('research', 'research', 'export', '--task', 'curve', '-o', 'sessions.tsv')
if (existsSync(join(work, 'research/sessions.tsv')))
  writeFileSync(join(out, 'research-export.tsv'), stable(readFileSync(join(work, 'research/sessions.tsv'), 'utf8')))
evsys('research', 'research', 'report', '--task', 'curve', '-o', 'report.html')
if (existsSync(join(work, 'research/report.html')))
  writeFileSync(join(out, 'research-report.html'), stable(readFileSync(join(work, 'research/report.html'), 'utf8')))
evsys('research', 'research', 'run', ...session, '--max-experiments', '6', '--proposer', 'optimizer')
await records('research')
readAll('research')
evsys('research', 'research', 'bench', '--worlds', 'nk', '--repeats', '4', '--budget', '40')

// Recipes of every kind, a few steps each.
await example('tool-router', ['--steps', '20'])
await example('rl-arithmetic', ['--steps', '3', '--set', 'backend.kind=mock'])
await example('rl-harness', ['--steps', '3', '--set', 'backend.kind=mock'])
await example('dpo', ['--steps', '6', '--set', 'backend.kind=mock'])
await example('distill', ['--steps', '4', '--set', 'backend.kind=mock'])
await example('continual', ['--steps', '4', '--set', 'backend.kind=mock'])
await example('custom-plugins', [])
