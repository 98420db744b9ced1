// One session of the bench of chaos, from its first controller to its record: `play-chaos-child JSON`. It runs evsys as a user does,
// disturbs it, has it resumed until the session is over, and prints how it went as JSON.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { canonicalJson, sha256 } from '../../kernel/index.ts'
import { keptSession } from './bench-chaos.ts'
import {
  type ChaosEnd,
  ChaosSession,
  type Disturb,
  type DisturbanceKind,
  disturbVariable,
  marks,
} from './disturbance.ts'

const session = ChaosSession.parse(JSON.parse(process.argv[2] ?? ''))
const preload = new URL(`./disturb-child${extname(import.meta.url)}`, import.meta.url).href
const record = join(session.dir, 'project', '.evsys', 'evsys.db')
const project = join(session.dir, 'project')
/** Controllers that are given a chance to bring a session to its end. */
const mostControllers = 5

const acts: Readonly<Record<DisturbanceKind, Disturb['act']>> = {
  kill: 'kill',
  'kill-then-two': 'kill',
  'two-controllers': 'hold',
  'clock-jump': 'clock',
  'full-disk': 'fill',
}

const ends: ChaosEnd['ends'] = []
let said: string | undefined

/** Starts a controller; absent: undisturbed. */
function start({ resume, disturb }: { resume: boolean; disturb?: Disturb | undefined }) {
  const [command = '', program = '', ...more] = session.evsys
  const words = ['research', 'run', '--task', 'table-search', '--proposer', 'optimizer', '--json', '--project', project]
  const caps = resume
    ? ['--resume']
    : ['--max-experiments', String(session.experiments), '--seed', String(session.seed)]
  const loaded = disturb === undefined ? [] : ['--import', preload]
  const child = spawn(command, [...loaded, program, ...more, ...words, ...caps], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, [disturbVariable]: disturb && JSON.stringify(disturb) },
  })
  let printed = ''
  child.stdout.on('data', (data: Buffer) => {
    printed += data
  })
  const closed = once(child, 'close')
  closed.catch(() => {}) // thrown where its end is awaited
  return {
    process: child,
    async end(): Promise<void> {
      const [code, signal] = await closed
      ends.push(code ?? signal ?? 'unknown')
      if (code !== 0 && printed !== '') said = printed.slice(0, 2000)
    },
  }
}

const isMarked = (mark: string) => existsSync(join(session.dir, mark))

async function disturbed({ kind, at, jumpMs, dir, evsys }: ChaosSession): Promise<void> {
  const act = kind === undefined ? 'nothing' : acts[kind]
  const first = start({ resume: false, disturb: { program: evsys[1] ?? '', dir, act, at, jumpMs } })
  if (act === 'hold') {
    while (first.process.exitCode === null && !isMarked(marks.disturbed)) await setTimeout(10)
    if (first.process.exitCode === null) await start({ resume: true }).end()
    writeFileSync(join(dir, marks.released), '')
  }
  await first.end()
  rmSync(join(dir, marks.ballast), { force: true })
}

async function isOver(): Promise<boolean> {
  const { canonical, state } = await keptSession(record)
  return state.status === 'ended' && canonical !== undefined && (canonical as { verdict?: unknown }).verdict != null // a row of the record
}

mkdirSync(project, { recursive: true })
await disturbed(session)
for (let n = 1; n < mostControllers && !(await isOver()); n++) {
  const resume = (await keptSession(record)).sessions > 0
  const count = session.kind === 'kill-then-two' && resume ? 2 : 1
  await Promise.all(Array.from({ length: count }, () => start({ resume }).end()))
}
const { canonical, state, sessions } = await keptSession(record)
const operations = isMarked(marks.operations) ? Number(readFileSync(join(session.dir, marks.operations), 'utf8')) : 0
const end: ChaosEnd = {
  operations,
  disturbed: isMarked(marks.disturbed),
  canonical: sessions === 1 && (await isOver()) ? sha256(canonicalJson(canonical)) : null,
  sentAgain: state.spend.lostCalls,
  ends,
  said,
}
process.stdout.write(`${JSON.stringify(end)}\n`)
