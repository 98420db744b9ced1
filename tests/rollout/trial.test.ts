import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { TrialResult, trialError } from '../../src/rollout/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type FolderEnvironment, openFolderEnvironment } from './folder-environment.ts'
import { bash } from './needs-bash.ts'
import { taskFolder } from './task-folder.ts'
import { noUsage, shell, tryTask } from './try-task.ts'

const folder = temporaryFolders()
const passing =
  'test -f $ROOT/app/done && echo 1 > $ROOT/logs/verifier/reward.txt || echo 0 > $ROOT/logs/verifier/reward.txt'
const task = (test: string, toml = '') =>
  taskFolder(folder(), { 'tests/test.sh': `#!/bin/bash\n${test}\n`, 'task.toml': `schema_version = "1.4"\n${toml}` })
const read = (dir: string, path: string) => readFileSync(join(dir, path), 'utf8')

bash.describe('a trial', () => {
  it('goes through its phases in order and times each of them (HAR-25)', async () => {
    const events: string[] = []
    const { result, reward, opened, dir } = await tryTask(
      await task(passing),
      folder(),
      shell('touch $ROOT/app/done; echo said > $ROOT/logs/agent/log.txt'),
      {
        onEvent: (event) => events.push(event),
      },
    )
    expect(reward).toBe(1)
    expect(events).toEqual(['start', 'environment-start', 'agent-start', 'agent-end', 'verification-start', 'end'])
    const phases = [result.environment_setup, result.agent_setup, result.agent_execution, result.verifier]
    const times = phases.flatMap((timing) => [timing?.started_at ?? '', timing?.finished_at ?? ''])
    expect(times).not.toContain('')
    expect(times).toEqual([...times].sort())
    expect(opened.map(({ closed }) => closed)).toEqual([1])
    expect(read(dir, 'agent/log.txt')).toBe('said\n')
    expect(read(dir, 'verifier/reward.txt')).toBe('1\n')
    expect(existsSync(join(dir, '.environment'))).toBe(false)
  })

  it('leaves a result.json with the fields of Harbor and our own facts (HAR-39)', async () => {
    const { dir } = await tryTask(await task(passing), folder())
    const timing = z.strictObject({ started_at: z.iso.datetime(), finished_at: z.iso.datetime() })
    const harbor = z.strictObject({
      id: z.uuid(),
      task_name: z.string(),
      trial_name: z.string(),
      trial_uri: z.url({ protocol: /^file$/ }),
      task_id: z.strictObject({ path: z.string() }),
      source: z.null(),
      task_checksum: z.hex(),
      config: z.looseObject({ task: z.looseObject({ path: z.string() }), trial_name: z.string() }),
      agent_info: z.strictObject({ name: z.string(), version: z.string(), model_info: z.null() }),
      agent_result: z.strictObject({
        n_input_tokens: z.int(),
        n_cache_tokens: z.null(),
        n_output_tokens: z.int(),
        cost_usd: z.null(),
        rollout_details: z.null(),
        metadata: z.record(z.string(), z.unknown()),
      }),
      verifier_result: z.strictObject({ rewards: z.record(z.string(), z.number()) }),
      verifier_environment_mode: z.literal('shared'),
      exception_info: z.null(),
      started_at: z.iso.datetime(),
      finished_at: z.iso.datetime(),
      environment_setup: timing,
      agent_setup: timing,
      agent_execution: timing,
      verifier: timing,
      step_results: z.null(),
      evsys: z.strictObject({
        status: z.literal('completed'),
        level: z.literal('process'),
        n_turns: z.literal(0),
        warnings: z.array(z.string()),
      }),
    })
    const written: unknown = JSON.parse(read(dir, 'result.json'))
    expect(harbor.safeParse(written).error).toBeUndefined()
    expect(TrialResult.safeParse(written).success).toBe(true)
    expect(JSON.parse(read(dir, 'lock.json'))).toMatchObject({ schema_version: 2 })
  })

  it('shows the agent no tests, and no solution (HAR-26)', async () => {
    const { dir } = await tryTask(await task(passing), folder(), shell('ls $ROOT > $ROOT/logs/agent/seen.txt'))
    expect(read(dir, 'agent/seen.txt').split('\n').filter(Boolean)).toEqual(['app', 'logs'])
  })

  it('goes by the reward file, not by the exit code of the tests (HAR-28)', async () => {
    const failing = await tryTask(await task(`echo 1 > $ROOT/logs/verifier/reward.txt; exit 1`), folder())
    expect(failing.reward).toBe(1)
    const silent = await tryTask(await task('exit 0'), folder())
    expect(silent.reward).toBeUndefined()
    expect(silent.result.exception_info?.exception_type).toBe('RewardFileNotFoundError')
    expect(silent.result.evsys).toMatchObject({ status: 'failed', error: { code: 'VERIFIER_FAILED', infra: true } })
  })

  it('tells of reward files that disagree (HAR-29)', async () => {
    const { result } = await tryTask(
      await task(`echo 1 > $ROOT/logs/verifier/reward.txt; echo '{"reward": 0}' > $ROOT/logs/verifier/reward.json`),
      folder(),
    )
    expect(result.verifier_result?.rewards).toEqual({ reward: 0 })
    expect(result.evsys?.warnings).toEqual([expect.stringContaining('disagree')])
  })

  it('takes no reward that the agent wrote, nor tests, nor links (HAR-32)', async () => {
    const forge = `
      for name in reward.txt reward.json; do echo 1 > $ROOT/logs/verifier/$name; done
      mkdir -p $ROOT/tests; printf '#!/bin/bash\\necho 1 > $ROOT/logs/verifier/reward.txt\\n' > $ROOT/tests/test.sh; chmod +x $ROOT/tests/test.sh
      echo 1 > $ROOT/tests/conftest.py; echo 1 > $ROOT/app/reward.txt; echo 1 > $ROOT/logs/agent/reward.txt`
    const { reward, dir } = await tryTask(
      await task(`test -e $ROOT/tests/conftest.py && exit; ${passing}`),
      folder(),
      shell(forge),
    )
    expect(reward).toBe(0)
    expect(existsSync(join(dir, 'verifier/reward.json'))).toBe(false)
    const early = await tryTask(await task('exit 1'), folder(), shell(forge))
    expect(early.result.exception_info?.exception_type).toBe('RewardFileNotFoundError')
    const linked = await tryTask(
      await task('ln -s $ROOT/app/forged $ROOT/logs/verifier/reward.txt'),
      folder(),
      shell('echo 1 > $ROOT/app/forged'),
    )
    expect(linked.reward).toBeUndefined()
    expect(linked.result.exception_info?.exception_type).toMatch(/RewardFileNotFoundError|VerifierOutputParseError/)
  })

  it('hears no more of processes and calls of the agent once it is scored (HAR-33)', async () => {
    let late: Promise<unknown> = Promise.resolve()
    const { reward, dir } = await tryTask(await task(passing), folder(), async ({ environment }, signal) => {
      await environment.exec(
        { argv: ['bash', '-c', '(while :; do echo 1 > $ROOT/logs/verifier/reward.txt; done) & disown'] },
        signal,
      )
      // A harness that goes on after its end: it holds the environment, which is closed to it.
      late = new Promise((resolve) => setImmediate(resolve)).then(() =>
        environment.write('/logs/verifier/reward.txt', Buffer.from('1')),
      )
      late.catch(() => {})
    })
    expect(reward).toBe(0)
    expect(read(dir, 'verifier/reward.txt')).toBe('0\n')
  })

  it('closes the environment to an agent whose phase is over (HAR-33)', async () => {
    let held: Parameters<NonNullable<Parameters<typeof tryTask>[2]>>[0] | undefined
    await tryTask(await task(passing), folder(), async (run) => {
      held = run
    })
    const { signal } = new AbortController()
    await expect(held?.environment.write('/app/done', new Uint8Array())).rejects.toThrow('is over')
    await expect(held?.environment.exec({ argv: ['true'] }, signal)).rejects.toThrow('is over')
  })

  it('verifies what an agent reached that ran out of time (HAR-34)', async () => {
    const { result, reward } = await tryTask(
      await task(passing),
      folder(),
      async (run, signal) => {
        await shell('touch $ROOT/app/done')(run, signal)
        await shell('sleep 600')(run, signal)
      },
      { config: { agent: { name: 'scripted', override_timeout_sec: 0.2 } } },
    )
    expect(reward).toBe(1)
    expect(result.exception_info?.exception_type).toBe('AgentTimeoutError')
    expect(result.verifier_result).toEqual({ rewards: { reward: 1 } })
    expect(result.evsys?.error).toMatchObject({ code: 'AGENT_TIMEOUT', infra: false })
  })

  it('leaves an agent behind that does not listen (HAR-34)', async () => {
    const { result, reward } = await tryTask(await task(passing), folder(), () => new Promise(() => {}), {
      config: { agent: { name: 'scripted', override_timeout_sec: 0.05 } },
    })
    expect(reward).toBe(0)
    expect(result.exception_info?.exception_type).toBe('AgentTimeoutError')
  })

  it('ends a verifier that runs out of time, without a result (HAR-35)', async () => {
    const { result } = await tryTask(
      await task('echo 1 > $ROOT/logs/verifier/reward.txt; sleep 600'),
      folder(),
      undefined,
      {
        config: { verifier: { override_timeout_sec: 0.2 } },
      },
    )
    expect(result.exception_info?.exception_type).toBe('VerifierTimeoutError')
    expect(result.verifier_result).toBeNull()
    expect(result.verifier?.finished_at).toEqual(expect.any(String))
  })

  it.each([
    ['the start', { openEnvironment: () => new Promise<never>(() => {}) }],
    ['the setup of the agent', { setupAgent: () => new Promise<never>(() => {}) }],
    ['the agent', { runAgent: () => new Promise<never>(() => {}) }],
  ])('ends at its deadline in %s and still leaves a result (HAR-37)', async (_phase, stuck) => {
    const { result, dir } = await tryTask(await task(passing), folder(), undefined, {
      config: { trial_timeout_sec: 0.2 },
      ...stuck,
    })
    expect(result.exception_info?.exception_type).toBe('TrialTimeoutError')
    expect(result.verifier_result).toBeNull()
    expect(JSON.parse(read(dir, 'result.json'))).toMatchObject({
      evsys: { status: 'failed', error: { code: 'TRIAL_TIMEOUT' } },
    })
  })

  it('has a name for each phase that takes too long (HAR-36)', async () => {
    const started = await tryTask(await task(passing), folder(), undefined, {
      config: { environment_build_timeout_multiplier: 0.0001 },
      openEnvironment: () => new Promise<never>(() => {}),
    })
    expect(started.result.exception_info?.exception_type).toBe('EnvironmentStartTimeoutError')
    const setUp = await tryTask(await task(passing), folder(), undefined, {
      config: { agent_setup_timeout_multiplier: 0.0001 },
      setupAgent: () => new Promise<never>(() => {}),
    })
    expect(setUp.result.exception_info?.exception_type).toBe('AgentSetupTimeoutError')
    expect(setUp.opened.map(({ closed }) => closed)).toEqual([1])
  })

  it('skips verification after another failure of the agent and keeps logs, artifacts and turns (HAR-38)', async () => {
    const turn = { messages: [{ role: 'user' as const, content: 'go' }], text: 'half', stopReason: 'stop' as const }
    const made = await task(passing, 'artifacts = ["/app/x"]\n')
    const { result, dir, turns, opened } = await tryTask(made, folder(), undefined, {
      async runAgent(run, signal) {
        await shell('echo kept > $ROOT/app/x; echo log > $ROOT/logs/agent/log.txt')(run, signal)
        run.onTurn(turn)
        throw new TypeError('the harness has a bug')
      },
    })
    expect(result.exception_info).toMatchObject({
      exception_type: 'TypeError',
      exception_message: 'the harness has a bug',
    })
    expect(result.verifier_result).toBeNull()
    expect(result.verifier).toBeNull()
    expect(turns).toEqual([turn])
    expect(JSON.parse(read(dir, 'agent/turns.jsonl'))).toEqual(turn)
    expect([read(dir, 'agent/log.txt'), read(dir, 'artifacts/app/x'), opened[0]?.closed]).toEqual([
      'log\n',
      'kept\n',
      1,
    ])
    expect(read(dir, 'exception.txt')).toContain('the harness has a bug')
  })

  it('verifies what a program reached that ended with an error (HAR-38)', async () => {
    const { result, reward } = await tryTask(await task(passing), folder(), undefined, {
      async runAgent(run, signal) {
        await shell('touch $ROOT/app/done')(run, signal)
        return { turns: [], usage: noUsage, error: trialError('NonZeroAgentExitCodeError', 'it ended with 3') }
      },
    })
    expect([reward, result.exception_info?.exception_type]).toEqual([1, 'NonZeroAgentExitCodeError'])
  })

  it('keeps secrets out of every file (HAR-41)', async () => {
    const secret = 'hunter2hunter2'
    const made = await task(
      `echo $JUDGE_TOKEN; echo 1 > $ROOT/logs/verifier/reward.txt`,
      '[verifier.env]\nJUDGE_TOKEN = "${HOST_TOKEN}"\n',
    )
    const { dir, result } = await tryTask(
      made,
      folder(),
      shell(
        'echo "$API_KEY"; echo "key $API_KEY" > $ROOT/logs/agent/env.txt; printf "bin\\0$API_KEY" > $ROOT/logs/agent/blob',
      ),
      {
        config: { agent: { name: 'scripted', env: { API_KEY: secret, PLAIN: 'visible-value' } } },
        hostEnv: { HOST_TOKEN: 'judge-me-not' },
      },
    )
    expect(read(dir, 'agent/env.txt')).toContain('key [')
    expect(read(dir, 'verifier/test-stdout.txt')).toContain('[secret')
    const { readdirSync, statSync } = await import('node:fs')
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
      statSync(join(dir, path)).isFile(),
    )
    const guilty = files.filter((path) => /hunter2|judge-me-not/.test(readFileSync(join(dir, path), 'latin1')))
    expect(guilty).toEqual([])
    expect(JSON.stringify(result.config)).toContain('visible-value')
  })

  it('keeps variables of the agent from the verifier (HAR-41)', async () => {
    const { reward } = await tryTask(
      await task('test -z "$AGENT_ONLY" && echo 1 > $ROOT/logs/verifier/reward.txt'),
      folder(),
      undefined,
      {
        config: { agent: { name: 'scripted', env: { AGENT_ONLY: 'yes' } } },
      },
    )
    expect(reward).toBe(1)
  })

  it('is cancelled from outside: it closes, keeps what there is, and says so (HAR-37)', async () => {
    const stop = new AbortController()
    const { result, dir, opened } = await tryTask(
      await task(passing),
      folder(),
      async (run, signal) => {
        await shell('echo half > $ROOT/logs/agent/log.txt')(run, signal)
        stop.abort(new Error('enough'))
        await shell('sleep 600')(run, signal)
      },
      { signal: stop.signal },
    )
    expect(result.exception_info?.exception_type).toBe('CancelledError')
    expect(result.evsys).toMatchObject({ status: 'cancelled', error: { code: 'INTERRUPTED', infra: true } })
    expect([read(dir, 'agent/log.txt'), opened[0]?.closed]).toEqual(['half\n', 1])
    expect(result.verifier).toBeNull()
  })

  it('is cancelled while the model answers: the turns so far are kept, and nothing is left open (HAR-72)', async () => {
    const stop = new AbortController()
    const turn = { messages: [{ role: 'user' as const, content: 'go' }], text: 'half', stopReason: 'stop' as const }
    const { result, turns, opened } = await tryTask(
      await task(passing),
      folder(),
      (run) => {
        run.onTurn(turn)
        stop.abort(new Error('enough'))
        return new Promise<never>(() => {}) // the answer that never comes
      },
      { signal: stop.signal },
    )
    expect(turns).toEqual([turn])
    expect(result.evsys).toMatchObject({ status: 'cancelled', n_turns: 1 })
    expect(opened.map(({ closed }) => closed)).toEqual([1])
  })

  it('closes an environment that starts when nobody waits for it any more (HAR-22)', async () => {
    const opened: FolderEnvironment[] = []
    let open = () => {}
    const waited = new Promise<void>((resolve) => {
      open = resolve
    })
    await tryTask(await task(passing), folder(), undefined, {
      config: { trial_timeout_sec: 0.05 },
      async openEnvironment() {
        await waited
        const environment = openFolderEnvironment(folder())
        opened.push(environment)
        return environment
      },
    })
    open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(opened.map(({ closed }) => closed)).toEqual([1])
  })

  it('brings home no link that an agent laid, and writes through none (HAR-32)', async () => {
    const outside = folder()
    const { dir, result } = await tryTask(
      await task(passing),
      folder(),
      shell(
        `ln -s ${outside}/owned $ROOT/logs/agent/turns.jsonl; ln -s /etc/passwd $ROOT/logs/agent/passwd; ln -s ${outside} $ROOT/logs/agent/dir`,
      ),
    )
    expect(existsSync(join(outside, 'owned'))).toBe(false)
    expect(['turns.jsonl', 'passwd', 'dir'].map((name) => existsSync(join(dir, 'agent', name)))).toEqual([
      false,
      false,
      false,
    ])
    expect(result.evsys?.warnings).toEqual([expect.stringContaining('/logs/agent')])
  })
})
