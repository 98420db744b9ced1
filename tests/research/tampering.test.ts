import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Attack, type AttackWorld, attacks, untampered } from '../../src/arena/adversary/attacks.ts'
import { lineTask } from '../../src/arena/adversary/line-task.ts'
import type { CandidateFiles, Executor, Level, RunOutcome } from '../../src/contracts/index.ts'
import { visibleText } from '../../src/kernel/index.ts'
import { openExecutor } from '../../src/research/index.ts'
import { processesThatKnow } from '../processes-with.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { answerTamperings } from './tamperings/answers.ts'
import { linkTamperings } from './tamperings/links.ts'
import { pythonTamperings, roadTamperings } from './tamperings/roads.ts'
import { timeTamperings } from './tamperings/times.ts'
import { floor, linux } from './task-folders.ts'

// Attacks beside those that come with the package, by what they aim at.
const moreTamperings: readonly Attack[] = [
  ...linkTamperings,
  ...answerTamperings,
  ...timeTamperings,
  ...roadTamperings,
  ...pythonTamperings,
]

const folder = temporaryFolders()
const signal = AbortSignal.timeout(1_500_000)
const canary = `canary-${process.pid}-in-the-environment`
const all = [...attacks, ...moreTamperings]
const chosen = inFullLane ? all : all.filter((_, i) => i % 24 === 3)

let visits = 0
const server = createServer((_, response) => {
  visits += 1
  response.end('labels')
})

beforeAll(async () => {
  process.env.EVSYS_TEST_CANARY = canary
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  delete process.env.EVSYS_TEST_CANARY
  server.close()
})

async function open(
  { language, checkpoint = false }: Attack,
  level?: Level,
): Promise<{ executor: Executor; world: AttackWorld }> {
  const [dir, workDir] = [folder(), folder()]
  const program = { startSeconds: 3, answerSeconds: 5, memoryBytes: 256 << 20 }
  const task = lineTask(dir, language, { program, checkpoint })
  const { port } = server.address() as AddressInfo // it listens
  const world = { dir, workDir, canary, port, tag: `evsys-tamper-${process.pid}` }
  return {
    executor: await openExecutor(task, {
      workDir,
      limits: { outputBytes: 4 << 20, answerBytes: 1 << 20 },
      ...(level === undefined ? {} : { level }),
    }),
    world,
  }
}

// Honest training takes a moment; its result must not depend on how busy the machine is.
const run = (executor: Executor, files: CandidateFiles, trainSeconds = 20): Promise<RunOutcome> =>
  executor.run({ files, seed: 1, split: 'val', trainSeconds }, signal)

const truths = new Map<boolean, number>()

/** The score of the same candidate without its trick. */
async function truth(executor: Executor, tampering: Attack): Promise<number> {
  const checkpoint = tampering.checkpoint === true
  const outcome = truths.has(checkpoint) ? undefined : await run(executor, untampered)
  if (outcome?.status === 'scored') truths.set(checkpoint, outcome.value)
  return truths.get(checkpoint) ?? Number.NaN
}

linux.describe('a candidate that tampers', () => {
  it('has at least a hundred ways to do it (RES-406)', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBeGreaterThanOrEqual(100)
  })

  const levels = inFullLane ? ([undefined, 'chroot'] as const) : [undefined]
  for (const { level, tampering } of levels.flatMap((level) => chosen.map((tampering) => ({ level, tampering }))))
    it(`gets nothing${level === 'chroot' ? ' at the level chroot' : ''}: it ${tampering.name} (RES-406)`, async () => {
      const { executor, world } = await open(tampering, level)
      await using _ = executor
      const files = tampering.files(world)
      const outcome = await run(executor, files, tampering.ends === 'timeout' ? 1 : 20)
      if (tampering.ends === 'scored') expect(outcome).toMatchObject({ status: 'scored' })
      else if (tampering.ends !== undefined)
        expect(outcome).toMatchObject({ status: 'failed', failure: { class: tampering.ends } })
      else expect(outcome).not.toMatchObject({ failure: { class: 'infra' } })
      if (outcome.status === 'scored') expect(outcome.value).toBeGreaterThan(floor)
      const told = JSON.stringify(outcome)
      expect(told).not.toContain(canary)
      const log = outcome.status === 'failed' ? (outcome.failure.log ?? '') : ''
      expect(log).toBe(visibleText(log, { newlines: true }))
      expect(processesThatKnow(world.tag)).toEqual([])
      expect(visits).toBe(0)
      if (tampering.ends === 'scored' && tampering.language === undefined)
        expect(outcome).toMatchObject({ value: await truth(executor, tampering) })
      if (tampering.twice === true)
        expect(await run(executor, files)).toMatchObject(
          outcome.status === 'scored' ? { status: 'scored', value: outcome.value } : { status: outcome.status },
        )
      if (tampering.isRead === true)
        expect((await executor.check(files, signal)).map((failure) => failure.class)).toEqual(
          expect.arrayContaining([expect.stringMatching(/^(?:validation|tamper)$/)]),
        )
    })

  it('is announced where no sandbox holds it (RES-414)', async () => {
    const notices: string[] = []
    const onNotice = (text: string) => notices.push(text)
    await using _ = await openExecutor(lineTask(folder()), { workDir: folder(), level: 'process', onNotice })
    expect(notices).toEqual([expect.stringContaining('without a sandbox')])
  })

  it('scores what is honest in them as if they were honest (RES-406)', async () => {
    const [claims] = attacks.filter(({ name }) => name.startsWith('prints a metric'))
    if (claims === undefined) throw new Error('there is none')
    const { executor, world } = await open(claims)
    await using _ = executor
    const outcome = await run(executor, claims.files(world))
    expect(outcome).toMatchObject({ status: 'scored', claimed: { mse: 0 } })
  })
})
