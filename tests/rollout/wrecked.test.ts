// Agents that make their own verification impossible, and machines that do.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EvsysError } from '../../src/kernel/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type FolderEnvironment, openFolderEnvironment } from './folder-environment.ts'
import { bash } from './needs-bash.ts'
import { taskFolder } from './task-folder.ts'
import { shell, tryTask } from './try-task.ts'

const folder = temporaryFolders()
const task = (test: string, files: Record<string, string> = {}) =>
  taskFolder(folder(), { 'tests/test.sh': `#!/bin/bash\n${test}\n`, ...files })
const scores = '[ -f $ROOT/app/answer ]; echo $((1 - $?)) > $ROOT/logs/verifier/reward.txt'

/** An environment that some agent, or the machine, brings down. */
function mortal(
  opened: FolderEnvironment[],
  { fails }: { fails(environment: FolderEnvironment, number: number): boolean },
) {
  return async ({ stateDir }: { stateDir: string }) => {
    const inner = openFolderEnvironment(join(stateDir, 'root'))
    const number = opened.push(inner)
    return {
      ...inner,
      exec: (...given: Parameters<typeof inner.exec>) =>
        fails(inner, number)
          ? Promise.reject(new EvsysError('ENVIRONMENT_FAILED', 'the container is gone'))
          : inner.exec(...given),
    }
  }
}

bash.describe('a trial that cannot be scored', () => {
  it.each([
    [
      'tests cannot write',
      `[ -e $ROOT/app/trap ] && exit; ${scores}`,
      'RewardFileNotFoundError',
      'touch $ROOT/app/trap',
    ],
    [
      'tests print nonsense',
      `cat $ROOT/app/trap > $ROOT/logs/verifier/reward.txt 2>&-  || { rm -f $ROOT/logs/verifier/reward.txt; ${scores}; }`,
      'VerifierOutputParseError',
      'echo nan > $ROOT/app/trap',
    ],
    [
      'tests never end',
      `[ -e $ROOT/app/trap ] && sleep 600; ${scores}`,
      'VerifierTimeoutError',
      'touch $ROOT/app/trap',
    ],
  ])('because of what the agent left counts as its failure: %s (HAR-81)', async (_how, test, name, trap) => {
    const { result, reward, opened } = await tryTask(await task(test), folder(), shell(trap), {
      config: { verifier: { override_timeout_sec: 2 } },
    })
    expect(reward).toBeUndefined()
    expect(result.evsys).toMatchObject({ status: 'failed', error: { code: 'AGENT_FAILED', infra: false } })
    expect(result.exception_info?.exception_type).toBe('EnvironmentWreckedError')
    expect(result.exception_info?.exception_message).toContain(name)
    expect(opened.map(({ closed }) => closed)).toEqual([1, 1])
  })

  it('because its agent brought the environment down counts as its failure (HAR-81)', async () => {
    const opened: FolderEnvironment[] = []
    let isDown = false
    const { result } = await tryTask(
      await task(scores),
      folder(),
      async (run, signal) => {
        isDown = true
        await run.environment.exec({ argv: ['true'] }, signal)
      },
      { openEnvironment: mortal(opened, { fails: (_, number) => isDown && number === 1 }) },
    )
    expect(result.exception_info?.exception_type).toBe('EnvironmentWreckedError')
    expect(result.evsys?.error).toMatchObject({ infra: false })
  })

  it('because the machine or the tests fail stays open (HAR-81)', async () => {
    const opened: FolderEnvironment[] = []
    let isDown = false
    const machine = await tryTask(
      await task(scores),
      folder(),
      async () => {
        isDown = true
      },
      { openEnvironment: mortal(opened, { fails: () => isDown }) },
    )
    expect(machine.result.evsys?.error).toMatchObject({ code: 'ENVIRONMENT_FAILED', infra: true })
    const tests = await tryTask(await task('exit 1'), folder(), shell('touch $ROOT/app/answer'))
    expect(tests.result.exception_info?.exception_type).toBe('RewardFileNotFoundError')
    expect(tests.result.evsys?.error).toMatchObject({ infra: true })
  })

  it('in one step counts as 0 in the mean of all (HAR-81)', async () => {
    const test = `#!/bin/bash\n[ -e $ROOT/app/trap ] && exit\n${scores}\n`
    const steps = await taskFolder(folder(), {
      'task.toml': '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n',
      'steps/one/instruction.md': 'answer',
      'steps/two/instruction.md': 'trap',
      'tests/test.sh': test,
    })
    const { reward, result } = await tryTask(steps, folder(), ({ task: { instruction }, environment }, signal) =>
      environment.exec({ argv: ['bash', '-c', `touch $ROOT/app/${instruction.trim()}`] }, signal),
    )
    expect(result.step_results?.[1]?.exception_info?.exception_type).toBe('EnvironmentWreckedError')
    expect(reward).toBe(0.5)
  })
})
