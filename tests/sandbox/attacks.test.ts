import { execFileSync, spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { needs } from '../needs.ts'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { attacks } from './attacks.ts'

const folder = temporaryFolders()
const path = '/usr/sbin:/usr/bin:/sbin:/bin'
const tools = ['bwrap', 'unshare', 'setpriv', 'perl', 'python3']
const linux = needs(`a Linux sandbox and ${tools.join(', ')}`, () => {
  for (const tool of tools) execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { env: { PATH: path } })
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'], { env: { PATH: path } })
  return true
})
const root = needs('root', () => process.getuid?.() === 0 || 'the tests run as an ordinary user')

const ordinary = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0)

/** There to end a hang: beside twenty busy processes all of it takes minutes. */
const patience = 600_000

/** Processes that keep the machine busy: the fast lane, which is busy itself, adds two for each core. */
const busyWork = inFullLane ? 20 : 2 * availableParallelism()

interface Plan {
  readonly level: string
  readonly uid: number
  readonly every: number
  readonly wrap?: readonly string[] | undefined
  /** In the names of the attacks that are wanted. */
  readonly word?: string | undefined
}

// All of them once each way round, a third of the others; the full lane takes all, five times.
const plans: readonly Plan[] = [
  { level: 'bubblewrap', uid: 0, every: 1 },
  { level: 'chroot', uid: 0, every: 3 },
  { level: 'bubblewrap', uid: ordinary, every: 3 },
  { level: 'chroot', uid: ordinary, every: 1 },
]

linux.describe('hostile code', () => {
  for (const plan of plans) {
    const starter = plan.uid === 0 ? root : { it }
    const who = plan.uid === 0 ? 'root' : 'an ordinary user'
    starter.it(`does no harm at level ${plan.level}, started by ${who} (BOX-6)`, () => attackAll(plan), patience)
  }

  // Where benchmarks are sealed, our own process lives in such a namespace, and as root it has no other account to become.
  it(
    'does no harm when it is started inside a user namespace (BOX-6)',
    async () => {
      const outer = ['/usr/bin/unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private']
      const wrap = [...outer, '/usr/bin/unshare', '--user', '--map-user=0', '--map-group=0']
      await attackAll({ level: 'bubblewrap', uid: 0, every: 3, wrap })
    },
    patience,
  )

  // An ordinary user has no control group here: what counts is what the kernel refuses, not what is noticed in time.
  it.each([['bubblewrap'], ['chroot']])(
    'is refused memory without a name at level %s on a machine that is busy with other work (USE-153)',
    async (level) => {
      const loops = Array.from({ length: busyWork }, () =>
        spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
      )
      try {
        await attackAll({ level, uid: ordinary, every: 1, word: 'memory' })
      } finally {
        for (const loop of loops) loop.kill('SIGKILL')
      }
    },
    patience,
  )
})

async function attackAll({ level, uid, every, wrap = [], word = '' }: Plan): Promise<void> {
  const place = folder()
  chmodSync(place, 0o755)
  const [repeats, step] = inFullLane ? [5, 1] : [1, every]
  await using child = startChild('attack-sandbox', [place, level, ...[uid, repeats, step].map(String), word], { wrap })
  const wanted = attacks.filter(({ name }, i) => i % step === 0 && name.includes(word))
  const expected = wanted.length * repeats + 1
  const told: { name: string; harm?: string | undefined }[] = []
  while (told.length < expected) told.push(JSON.parse(await child.line()))
  expect(told.filter(({ harm }) => harm !== undefined)).toEqual([])
}
