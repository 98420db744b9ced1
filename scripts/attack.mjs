// Plays the lists of attacks and of honest recipes (tests/attacks) against the built product, and prints what came of them:
// `node scripts/attack.mjs [--user UID] [--level chroot] [--list attacks|honest] [--target T] [--word WORD] [--every N] [--from I] [--to J] [--size N]
// [--seal required] [--seconds S] [--out FILE [--resume]]`. `--user` and `--level` need root: it becomes that account for good, or covers
// bubblewrap for its processes alone. Nothing new is begun after S seconds; `--resume` plays what FILE does not hold yet of this account and level.
import { spawn } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    user: { type: 'string' },
    level: { type: 'string', default: 'auto' },
    list: { type: 'string' },
    target: { type: 'string' },
    word: { type: 'string' },
    every: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    size: { type: 'string' },
    seal: { type: 'string' },
    seconds: { type: 'string' },
    out: { type: 'string' },
    resume: { type: 'boolean', default: false },
  },
})
const { user, level, out, resume } = values
const isRoot = process.getuid?.() === 0
if (!isRoot && (user !== undefined || level !== 'auto')) throw new Error('--user and --level need root')
if (!['auto', 'bubblewrap', 'chroot'].includes(level)) throw new Error('--level is bubblewrap or chroot')

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'evsys-attack-'))
chmodSync(folder, 0o755)
if (user !== undefined) chownSync(folder, Number(user), Number(user))

const given = ['list', 'target', 'word', 'every', 'from', 'to', 'size', 'seal', 'seconds'].flatMap((name) => {
  const value = Reflect.get(values, name)
  return value === undefined ? [] : [`--${name}`, value]
})
const who = { user: user ?? String(process.getuid?.() ?? ''), level }
/** @type {{ name: string, list: string, target: string, outcome: string, detail?: string, user?: string, level?: string }[]} */
const played = []
if (resume && out !== undefined && existsSync(out))
  for (const line of readFileSync(out, 'utf8').split('\n').filter(Boolean)) {
    const each = JSON.parse(line)
    const before = played.findIndex(({ name }) => name === each.name)
    if (each.user !== who.user || each.level !== who.level) continue
    if (before >= 0) played.splice(before, 1)
    played.push(each)
  }
given.push('--except', JSON.stringify(played.map(({ name }) => name)))
const play = [
  process.execPath,
  join(root, 'node_modules/.bin/jiti'),
  join(root, 'tests/attacks/main.ts'),
  folder,
  ...given,
]
const asUser = user === undefined ? play : ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', ...play]
const cover =
  'for tool in /usr/bin/bwrap /usr/local/bin/bwrap; do [ ! -e "$tool" ] || mount --bind /dev/null "$tool" || exit 1; done; exec "$@"'
const atLevel =
  level === 'chroot' ? ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', cover, 'sh', ...asUser] : asUser

const [command = '', ...args] = atLevel
const child = spawn(command, args, {
  cwd: folder,
  env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, JITI_FS_CACHE: 'false' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const closed = new Promise((done) => child.on('close', done))
for await (const line of createInterface({ input: child.stdout })) {
  const each = { ...JSON.parse(line), ...who }
  played.push(each)
  if (out !== undefined) appendFileSync(out, `${JSON.stringify(each)}\n`)
  if (isBad(each)) console.log(`${each.outcome}: ${each.name}: ${each.detail}`)
}
const code = await closed
rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

for (const list of ['attacks', 'honest']) {
  const rows = played.filter((each) => each.list === list)
  if (rows.length === 0) continue
  console.log(`\n${list}: ${rows.length}`)
  for (const target of [...new Set(rows.map((each) => each.target))]) {
    const of = rows.filter((each) => each.target === target)
    const counts = [...new Set(of.map(({ outcome }) => outcome))].sort()
    console.log(
      `  ${target.padEnd(16)} ${counts.map((outcome) => `${of.filter((each) => each.outcome === outcome).length} ${outcome}`).join(', ')}`,
    )
  }
}
if (code !== 0) console.error(`the player ended with ${code}`)
process.exitCode = code !== 0 || played.length === 0 || played.some(isBad) ? 1 : 0

/** @param {{ outcome: string }} each */
function isBad({ outcome }) {
  return outcome === 'harm' || outcome === 'hindered'
}
