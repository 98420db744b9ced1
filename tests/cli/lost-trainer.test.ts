import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { openStore } from '../../src/store/index.ts'
import { listenOnPort } from '../listen-on-port.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runningTrainers } from '../trainer/running-trainer.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()
const started = runningTrainers()
const slow = 120_000

/** A project whose runs train at the address that its .env names. */
function lab(url: string, steps = 8): string {
  const cwd = folder()
  writeSmallLab(cwd, {
    steps,
    axes: { 'algorithm.params.learning_rate': [0.3] },
    file: { n_repeats: 1, metadata: { hypothesis: 'It learns.' } },
  })
  writeFileSync(join(cwd, '.env'), `TINKER_API_KEY=tml-of-the-user\nTINKER_BASE_URL=${url}\n`)
  return cwd
}

const onTinker = ['--set', 'backend.kind=tinker', '--set', 'algorithm.params.lora_rank=4']

async function logged(cwd: string): Promise<string[]> {
  await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
  const [experiment] = await store.experiments({ limit: 1 })
  const [run] = await store.runs(experiment?.id ?? '')
  const events = await store.events({ stream: `run:${run?.id}`, afterSeq: 0, limit: 1000 })
  return events.flatMap((event) => (event.type === 'log' ? [event.text] : []))
}

describe('a run whose trainer is away', () => {
  it(
    'trains where TINKER_BASE_URL of .env says, and nowhere else (USE-82)',
    async () => {
      const { url } = await started()
      const { code, stderr } = await runMain(['run', 'config.yaml', ...onTinker], { cwd: lab(url) })
      expect({ code, stderr }).toMatchObject({ code: 0 })
    },
    slow,
  )

  it(
    'fails soon, with the address and the fix, and has said for what it waited (USE-80)',
    async () => {
      const { url } = await listenOnPort()
      const cwd = lab(url)
      const { code, stdout, stderr } = await runMain(['run', 'config.yaml', ...onTinker, '--json'], { cwd })
      expect(code).toBe(1)
      expect(stderr).toContain(`no answer from ${url}`)
      expect(stdout).toContain(url)
      expect((await logged(cwd)).join('\n')).toContain(`no answer from ${url}`)
    },
    slow,
  )

  it(
    'says that it reconnects when the trainer dies, ends on the first signal and can be resumed (USE-81, USE-83)',
    async () => {
      const trainer = await started()
      const cwd = lab(trainer.url, 100_000)
      const controller = new AbortController()
      let stderr = ''
      let isDead = false
      let interruptedMs = Number.NaN
      const code = await main(['run', 'config.yaml', ...onTinker], {
        stdout: { write: () => {} },
        stderr: {
          write(text) {
            stderr += text
            if (!isDead && stderr.includes('started, ')) {
              isDead = true
              void trainer[Symbol.asyncDispose]()
            }
            if (stderr.includes('no answer from') && !controller.signal.aborted) {
              interruptedMs = performance.now()
              controller.abort()
            }
          },
        },
        stdin: (async function* () {})(),
        cwd,
        env: { PATH: process.env.PATH ?? '' },
        signal: controller.signal,
      })
      expect(performance.now() - interruptedMs).toBeLessThan(15_000)
      expect({ code, stderr }).toMatchObject({ code: 130 })
      expect(stderr).toMatch(/no answer from http:\S+ \(.+\); reconnecting for up to \d+ s/)
      expect(stderr).toContain('which save first; a second signal ends it at once')
      expect(stderr).toContain('--resume')
      expect(stderr).not.toContain(': failed')
    },
    slow,
  )
})
