import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { openFolderEnvironment } from './folder-environment.ts'
import { bash } from './needs-bash.ts'
import { taskFolder } from './task-folder.ts'
import { shell, tryTask } from './try-task.ts'

const folder = temporaryFolders()
const read = (dir: string, path: string) => readFileSync(join(dir, path), 'utf8')
const score = (condition: string) =>
  `#!/bin/bash\nif ${condition}; then echo 1; else echo 0; fi > $ROOT/logs/verifier/reward.txt\n`
const steps = (...names: string[]) => names.map((name) => `[[steps]]\nname = "${name}"\n`).join('')

bash.describe('a task of several steps', () => {
  it('has files of a step in place, keeps files between steps, and empties logs and tests (HAR-44, HAR-47)', async () => {
    const task = await taskFolder(folder(), {
      'task.toml': steps('one', 'two'),
      'steps/one/instruction.md': 'First.',
      'steps/one/tests/test.sh': score('test -f $ROOT/app/kept'),
      'steps/one/tests/only-one': '',
      'steps/two/instruction.md': 'Second.',
      'steps/two/workdir/given.txt': 'given',
      'steps/two/workdir/setup.sh': '#!/bin/bash\necho ready > ready.txt\nrm setup.sh\n',
      'steps/two/tests/test.sh': score(
        'test -f $ROOT/app/ready.txt -a ! -e $ROOT/app/setup.sh -a ! -e $ROOT/tests/only-one',
      ),
    })
    const asked: string[] = []
    const { result, reward, dir } = await tryTask(task, folder(), async (run, signal) => {
      asked.push(run.task.instruction)
      const look = `ls $ROOT/logs/verifier $ROOT/tests $ROOT/app > $ROOT/logs/agent/seen.txt`
      await shell(`${look}; touch $ROOT/app/kept; echo ${run.folder.step} > $ROOT/logs/agent/step.txt`)(run, signal)
    })
    expect(asked).toEqual(['First.', 'Second.'])
    expect(result.step_results?.map(({ step_name, verifier_result }) => [step_name, verifier_result?.rewards])).toEqual(
      [
        ['one', { reward: 1 }],
        ['two', { reward: 1 }],
      ],
    )
    expect(reward).toBe(1)
    const seen = read(dir, 'steps/two/agent/seen.txt')
    expect(seen).toMatch(/given\.txt[\s\S]*kept[\s\S]*ready\.txt/)
    expect(seen).not.toMatch(/reward|test\.sh/)
    expect(read(dir, 'steps/one/agent/step.txt')).toBe('one\n')
    expect(existsSync(join(dir, 'agent'))).toBe(false)
    expect(result.verifier_environment_mode).toBeNull()
  })

  it('ends when a setup script fails: agent, verifier and later steps are skipped (HAR-44)', async () => {
    const task = await taskFolder(folder(), {
      'task.toml': steps('one', 'two'),
      'steps/one/instruction.md': '',
      'steps/one/workdir/setup.sh': '#!/bin/bash\necho no >&2; exit 3\n',
      'steps/one/tests/test.sh': score('true'),
      'steps/two/instruction.md': '',
      'steps/two/tests/test.sh': score('true'),
    })
    let runs = 0
    const { result, reward } = await tryTask(task, folder(), async () => {
      runs += 1
    })
    expect([runs, reward, result.step_results?.length]).toEqual([0, undefined, 1])
    expect(result.step_results?.[0]).toMatchObject({
      exception_info: { exception_type: 'StepSetupError' },
      verifier: null,
      agent_execution: null,
    })
    expect(result.evsys).toMatchObject({ status: 'failed', error: { code: 'ENVIRONMENT_FAILED', infra: true } })
  })

  it.each([
    ['min_reward = 1.0', 'echo 0 > $ROOT/logs/verifier/reward.txt', 1],
    ['min_reward = { a = 0.5, b = 0.5 }', `echo '{"a": 1}' > $ROOT/logs/verifier/reward.json`, 1],
    ['min_reward = { a = 0.5, b = 0.5 }', `echo '{"a": 1, "b": 0.5}' > $ROOT/logs/verifier/reward.json`, 2],
  ])('goes on only past its gates: %s (HAR-45)', async (gate, test, reached) => {
    const task = await taskFolder(folder(), {
      'task.toml': `[[steps]]\nname = "one"\n${gate}\n${steps('two')}`,
      'steps/one/instruction.md': '',
      'steps/one/tests/test.sh': `#!/bin/bash\n${test}\n`,
      'steps/two/instruction.md': '',
      'steps/two/tests/test.sh': `#!/bin/bash\n${test}\n`,
    })
    const { result } = await tryTask(task, folder())
    expect(result.step_results?.length).toBe(reached)
  })

  it('puts the tests of the task in place before those of the step, which win (HAR-48)', async () => {
    const task = await taskFolder(folder(), {
      'task.toml': steps('one'),
      'tests/helpers.sh': 'ok() { echo 0.5 > $ROOT/logs/verifier/reward.txt; }\n',
      'tests/value': 'task',
      'tests/test.sh': '#!/bin/bash\necho 0 > $ROOT/logs/verifier/reward.txt\n',
      'steps/one/instruction.md': '',
      'steps/one/tests/value': 'step',
      'steps/one/tests/test.sh':
        '#!/bin/bash\n. $ROOT/tests/helpers.sh\ntest "$(cat $ROOT/tests/value)" = step && ok\n',
    })
    expect((await tryTask(task, folder())).reward).toBe(0.5)
  })

  it('verifies a step whose agent failed in any way, and says that the trial did (HAR-38)', async () => {
    const task = await taskFolder(folder(), {
      'task.toml': `multi_step_reward_strategy = "final"\n${steps('one')}`,
      'steps/one/instruction.md': '',
      'steps/one/tests/test.sh': score('true'),
    })
    const { result, reward } = await tryTask(task, folder(), async () => {
      throw new TypeError('a bug')
    })
    expect(result.verifier_result).toEqual({ rewards: { reward: 1 } })
    expect(result.step_results?.[0]?.exception_info?.exception_type).toBe('TypeError')
    expect(result.exception_info).toBeNull()
    expect([result.evsys?.status, reward]).toEqual(['failed', undefined])
  })
})

bash.describe('a separate verifier', () => {
  const toml = 'artifacts = ["/app/out.txt"]\n[verifier]\nenvironment_mode = "separate"\n'
  const test =
    '#!/bin/bash\ntest "$(cat $ROOT/app/out.txt)" = 42 -a ! -e $ROOT/app/extra && echo 1 > $ROOT/logs/verifier/reward.txt\n'

  it('gets the artifacts at their places and nothing else, after the agent’s world is gone (HAR-33)', async () => {
    const task = await taskFolder(folder(), {
      'task.toml': toml,
      'tests/test.sh': test,
      'tests/Dockerfile': 'FROM ubuntu:24.04\nCOPY . /tests\n',
    })
    const order: string[] = []
    const { result, reward } = await tryTask(
      task,
      folder(),
      shell('echo 42 > $ROOT/app/out.txt; touch $ROOT/app/extra; echo 1 > $ROOT/logs/verifier/reward.txt'),
      {
        async openEnvironment({ folder: { role }, stateDir }) {
          const environment = openFolderEnvironment(join(stateDir, 'root'))
          order.push(`open ${role ?? 'agent'}`)
          if (role === 'verifier') await environment.upload(join(task.path, 'tests'), '/tests') // what its image would hold
          return {
            ...environment,
            async [Symbol.asyncDispose]() {
              order.push(`close ${role ?? 'agent'}`)
              await environment[Symbol.asyncDispose]()
            },
          }
        },
      },
    )
    expect([reward, result.exception_info]).toEqual([1, null])
    expect(result.verifier_environment_mode).toBe('separate')
    expect(order).toEqual(['open agent', 'close agent', 'open verifier', 'close verifier'])
  })
})
