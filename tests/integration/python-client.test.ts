import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import * as z from 'zod'
import { resolveModelFolder } from '../../src/models/index.ts'
import { needs } from '../needs.ts'

const versions = ['0.16.1', '0.24.1', '0.25.0', '0.36.0']
const newest = '0.36.0'
const root = fileURLToPath(new URL('../..', import.meta.url))
const clients = process.env.EVSYS_PYTHON_CLIENTS ?? join(root, '.tmp/python-clients')
const python = (version: string) => join(clients, version, 'bin/python')

const pythonClients = needs(`the official clients ${versions.join(', ')} (scripts/python-clients.sh)`, () => {
  const missing = versions.filter((version) => !existsSync(python(version)))
  return missing.length === 0 ? true : `${missing.join(', ')} not in ${clients}`
})

const cookbook = needs('tinker-cookbook (scripts/python-clients.sh)', () => {
  // Found, not imported: that takes seconds, and the script has done it.
  const find = `import importlib.util, sys; sys.exit(importlib.util.find_spec('tinker_cookbook') is None)`
  execFileSync(python(newest), ['-c', find], { stdio: 'pipe' })
  return true
})

const Loop = z.object({ metrics: z.array(z.looseObject({ step: z.int() })) })

const Said = z.object({
  url: z.string(),
  version: z.string(),
  losses: z.array(z.number()),
  custom: z.number().nullable(),
  after: z.array(z.number()),
  samples: z.array(z.array(z.number())),
  scores: z.array(z.number()),
})

/** `evsys serve` as users start it. */
async function serve(engine: string, dir: string): Promise<{ child: ChildProcess; url: string }> {
  const args = [
    'bin/evsys.js',
    'serve',
    '--engine',
    engine,
    '--model',
    'evsys/nano',
    '--port',
    '0',
    '--dir',
    dir,
    '--json',
  ]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    const read = (part: Buffer) => {
      text += part
      if (!text.trimEnd().endsWith('}')) return
      child.stdout.off('data', read)
      resolve(z.object({ url: z.string() }).parse(JSON.parse(text)).url)
    }
    child.stdout.on('data', read)
    child.once('exit', () => reject(new Error(`evsys serve ended: ${text}`)))
  })
  return { child, url }
}

// What Python compiles of a module is kept, whatever this machine asks for otherwise.
const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '', TINKER_API_KEY: 'tml-test', HF_HUB_OFFLINE: '1' }

/**
 * A process that trains on trainers with seeds one after another, or some (`1+2`) at once; importing its libraries is most of
 * its life. What it said, by trainer.
 */
async function talk(version: string, urls: readonly string[], ...seeds: (number | string)[]) {
  const { stdout } = await promisify(execFile)(
    python(version),
    [join(root, 'tests/integration/python-client.py'), 'evsys/nano', urls.join(','), ...seeds.map(String)],
    { env: environment, timeout: 300_000 },
  )
  const said = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => Said.parse(JSON.parse(line)))
  return urls.map((url) => said.filter((each) => each.url === url).map(({ url: _url, ...numbers }) => numbers))
}

/** Runs a loop of the cookbook; the values of one metric, by step. */
async function cook(kind: string, metric: string, url: string): Promise<number[]> {
  const { folder } = await resolveModelFolder('evsys/nano')
  const log = mkdtempSync(join(tmpdir(), 'evsys-cookbook-'))
  try {
    const { stdout } = await promisify(execFile)(
      python(newest),
      [join(root, 'tests/integration/cookbook-loops.py'), kind, 'evsys/nano', folder, log],
      { env: { ...environment, TINKER_BASE_URL: url }, timeout: 300_000 },
    )
    return Loop.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).metrics.map((each) =>
      z.number().parse(each[metric]),
    )
  } finally {
    rmSync(log, { recursive: true, force: true })
  }
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

cookbook.describe('the cookbook against evsys serve', () => {
  const dir = mkdtempSync(join(tmpdir(), 'evsys-serve-'))
  let served: { child: ChildProcess; url: string }
  beforeAll(async () => {
    served = await serve('cpu', dir)
  })
  afterAll(() => {
    served.child.kill('SIGINT')
    rmSync(dir, { recursive: true, force: true })
  })

  cookbook.it('learns in its supervised loop and in its RL loop (conformance 62) (TRN-18)', async () => {
    const [losses, rewards] = await Promise.all([
      cook('sl', 'train_mean_nll', served.url),
      cook('rl', 'reward/total', served.url),
    ])
    expect(losses).toHaveLength(8)
    expect(losses.at(-1)).toBeLessThan(0.7 * (losses[0] ?? 0))
    expect(rewards).toHaveLength(10)
    // About 0.1 before and 0.5 after; 8 of 8 other sequences of seeds gained 0.3 or more.
    expect(mean(rewards.slice(-2))).toBeGreaterThan(mean(rewards.slice(0, 2)) + 0.2)
  })
})

pythonClients.describe('official clients against evsys serve, with the mock and the reference engine', () => {
  const dirs = ['mock', 'reference'].map((engine) => ({ engine, dir: mkdtempSync(join(tmpdir(), 'evsys-serve-')) }))
  let served: { child: ChildProcess; url: string }[] = []
  const urls = () => served.map(({ url }) => url)
  const seeds = [11, 12, 13, 14, 15, 16, 17, 18]
  let spoken: Promise<Awaited<ReturnType<typeof talk>>[]> | undefined
  /** What every version says of one seed, and the newest, in the same process, of each seed by itself. */
  const speak = () => {
    spoken ??= Promise.all(versions.map((version) => talk(version, urls(), 3, ...(version === newest ? seeds : []))))
    return spoken
  }
  beforeAll(async () => {
    served = await Promise.all(dirs.map(({ engine, dir }) => serve(engine, dir)))
  })
  afterAll(() => {
    for (const { child } of served) child.kill('SIGINT')
    for (const { dir } of dirs) rmSync(dir, { recursive: true, force: true })
  })

  pythonClients.it(
    'train, save, resume and sample, with equal numbers in every version (conformance 8) (TRN-18)',
    async () => {
      const byVersion = await speak()
      for (const at of dirs.keys()) {
        const said = byVersion.flatMap((byTrainer) => byTrainer[at]?.slice(0, 1) ?? [])
        expect(said.map(({ version }) => version)).toEqual(versions)
        const [first, ...others] = said.map(({ version: _version, ...numbers }) => numbers)
        for (const other of others) expect(other).toEqual(first)
      }
    },
  )

  pythonClients.it('eight at once end as each alone (TRN-8)', async () => {
    const halves = [seeds.slice(0, 4), seeds.slice(4)].map((half) => half.join('+'))
    const [first = [], second = []] = await Promise.all(halves.map((half) => talk(newest, urls(), half)))
    const together = dirs.map((_, at) => [...(first[at] ?? []), ...(second[at] ?? [])])
    expect(together.map((said) => said.length)).toEqual([seeds.length, seeds.length])
    const byTrainer = (await speak()).at(-1)
    expect(byTrainer?.map((said) => said.slice(1))).toEqual(together)
  })
})
