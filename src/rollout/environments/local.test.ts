import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { probeSandboxes } from '../../sandbox/index.ts'
import { loadTaskFolder, taskRow } from '../task/index.ts'
import { shellCommand } from './index.ts'
import { local } from './local.ts'
import { isOnPath } from './plan-environment.ts'

const newFolder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../../../tests/fixtures/harbor-tasks', import.meta.url))
const { signal } = new AbortController()
const works = await probeSandboxes()
const sandbox = needs(
  'a sandbox',
  () =>
    works.some(({ level, reason }) => level !== 'container' && reason === undefined) ||
    works.map(({ reason }) => reason).join(),
)

function taskFolder(files: Record<string, string>): string {
  const root = newFolder()
  const all = { 'task.toml': '', 'instruction.md': 'x', 'environment/.gitkeep': '', 'tests/test.sh': 'true', ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

async function openAt(path: string, params: object = {}, stateDir = newFolder()): Promise<OpenEnvironment> {
  const task = await taskRow(await loadTaskFolder(path, { withoutVerification: true }))
  return await local.open({ ...pluginContext(local, params), task, folder: { path }, stateDir })
}

const sh = async (place: OpenEnvironment, line: string, more: object = {}) =>
  await place.exec({ argv: shellCommand(line), ...more }, signal)
const out = async (place: OpenEnvironment, line: string, more: object = {}) =>
  (await sh(place, line, more)).stdout.trim()

sandbox.describe('the environment "local"', () => {
  it('starts where task.toml says, with its variables, under bash where there is one (HAR-14, HAR-15, HAR-16)', async () => {
    const stateDir = newFolder()
    await using place = await openAt(join(fixtures, 'workdir'), {}, stateDir)
    expect(place.workdir).toBe('/custom-workdir')
    expect(await out(place, 'pwd')).toBe('/custom-workdir')
    expect(await out(place, 'pwd', { cwd: '/tmp' })).toBe('/tmp')
    if (isOnPath('bash')) expect(await out(place, 'echo ${BASH_VERSION:+bash}')).toBe('bash')
    expect(await out(place, 'pwd > where.txt; cat /custom-workdir/where.txt')).toBe('/custom-workdir')
    expect(await out(place, 'ls -d /tests /solution 2>/dev/null; ls /logs')).toBe('agent\nartifacts\nverifier')
    await place.upload(join(fixtures, 'workdir/tests'), '/tests')
    await sh(place, '/tests/test.sh')
    expect(Buffer.from(await place.read('/logs/verifier/reward.txt')).toString()).toBe('1\n')
    await place.empty('/logs/verifier')
    expect(await out(place, 'ls /logs/verifier; touch /logs/verifier/x; ls /logs/verifier')).toBe('x')
    await place[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
    for (const name of ['root', 'logs', 'trash']) expect(existsSync(join(stateDir, name))).toBe(false)
  })

  it('builds what the Dockerfile says, and keeps variables of one command from the next (HAR-16)', async () => {
    await using place = await openAt(join(fixtures, 'multi-step-advanced'))
    expect(await out(place, 'cat banner.txt; echo $PROJECT $GREETING')).toBe('made with greeter\ngreeter Hello')
    expect(await out(place, 'echo $GREETING$MORE', { env: { GREETING: 'own', MORE: '!' } })).toBe('own!')
    expect(await out(place, 'echo $GREETING$MORE')).toBe('Hello')
  })

  it('ends all that a command started when its time is up (HAR-17)', async () => {
    await using place = await openAt(taskFolder({}))
    const loop = 'while :; do echo x >> /tmp/beat; done'
    const result = await sh(place, `(${loop}) & (${loop}) & wait`, { limits: { timeoutMs: 500 } })
    expect(result.limitHit).toBe('timeoutMs')
    const size = 'wc -c < /tmp/beat'
    expect(await out(place, size)).toBe(await out(place, size))
  })

  it('keeps streams apart, and cuts what is too long (HAR-18)', async () => {
    await using place = await openAt(taskFolder({}))
    expect(await sh(place, 'echo out; echo err >&2; exit 3')).toMatchObject({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
    })
    const long = await sh(place, 'i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done', {
      limits: { outputBytes: 1000 },
    })
    expect(long.truncated).toBe(true)
    expect(long.stdout.length).toBeLessThan(2000)
  })

  it('gives a task that allows the network none, unless the operator does (HAR-19)', async () => {
    const context = pluginContext(local)
    const path = taskFolder({})
    const task = await taskRow(await loadTaskFolder(path))
    await using place = await local.open({ ...context, task, folder: { path }, stateDir: newFolder() })
    expect(context.logged.map(({ text }) => text)).toContainEqual(expect.stringContaining('gets none'))
    expect(await out(place, 'cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "')).toBe('lo')
  })

  it('refuses before it starts what it cannot enforce or run, and says who can (HAR-20, HAR-80)', async () => {
    const refused = async (files: Record<string, string>) =>
      await openAt(taskFolder(files)).then(
        () => 'opened',
        (error: Error) => error.message,
      )
    const list = '[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["example.com"]'
    expect(await refused({ 'task.toml': list })).toMatch(/^the environment "local" cannot hold this task: .*allowlist/)
    expect(await refused({ 'environment/Dockerfile': 'FROM acme/x' })).toMatch(/"local".*starts from the image acme\/x/)
    expect(await refused({ 'environment/Dockerfile': 'FROM debian\nRUN cp /nothing /there' })).toMatch(
      /could not build line 2 of the Dockerfile/,
    )
  })

  it('runs the healthcheck of the task before it is open (HAR-21)', async () => {
    const check = (command: string) =>
      `[environment.healthcheck]\ncommand = "${command}"\ninterval_sec = 0.01\nretries = 2\n`
    await using place = await openAt(taskFolder({ 'task.toml': check('mkdir /tmp/a 2>/dev/null && exit 1; true') }))
    expect(await out(place, 'ls -d /tmp/a')).toBe('/tmp/a')
    const stateDir = newFolder()
    await expect(openAt(taskFolder({ 'task.toml': check('false') }), {}, stateDir)).rejects.toMatchObject({
      name: 'HealthcheckError',
    })
    expect(existsSync(join(stateDir, 'root'))).toBe(false)
  })

  it('shows nothing of the host but its programs, and no other trial (HAR-23)', async () => {
    const secret = newFolder()
    writeFileSync(join(secret, 'key'), 'secret')
    await using place = await openAt(taskFolder({}))
    expect(await out(place, `cat ${secret}/key /root/.bashrc /etc/shadow 2>/dev/null; ls -A /home; ls -A /root`)).toBe(
      '',
    )
    expect((await sh(place, 'touch /usr/x || touch /etc/x')).exitCode).not.toBe(0)
    await sh(place, `ln -s ${secret} /tests; ln -s ${secret}/key /logs/verifier/reward.txt`)
    await expect(place.read('/logs/verifier/reward.txt')).rejects.toThrow()
    await place.empty('/tests')
    await place.upload(join(fixtures, 'workdir/tests'), '/tests')
    expect(readFileSync(join(secret, 'key'), 'utf8')).toBe('secret')
    expect(existsSync(join(secret, 'test.sh'))).toBe(false)
    await expect(sh(place, 'true', { user: 'agent' })).rejects.toThrow(/"local".*account agent/)
  })

  it('stops what takes too much memory or too many processes (HAR-24)', async () => {
    await using place = await openAt(taskFolder({ 'task.toml': '[environment]\nmemory_mb = 64' }), { processes: 20 })
    const hog = await sh(place, 'x=0123456789abcdef; while :; do x="$x$x"; done', { limits: { timeoutMs: 20_000 } })
    expect(hog.exitCode).not.toBe(0)
    expect(hog.limitHit).not.toBe('timeoutMs')
    const fork = 'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all; kill $(jobs -p)'
    const many = await place.exec({ argv: ['sh', '-c', fork], limits: { timeoutMs: 20_000 } }, signal)
    expect(many.stdout).not.toContain('all')
    expect(await out(place, 'echo alive')).toBe('alive')
  })

  it('downloads no file through a link to the host (HAR-23)', async () => {
    const secret = newFolder()
    writeFileSync(join(secret, 'key'), 'secret')
    await using place = await openAt(taskFolder({}))
    await sh(place, `mkdir /data; echo own > /data/a; ln -s ${secret}/key /data/b; ln -s a /data/c`)
    const target = newFolder()
    await place.download('/data', target)
    expect(readFileSync(join(target, 'c'), 'utf8')).toBe('own\n')
    expect(existsSync(join(target, 'b'))).toBe(false)
  })
})

it.each(['exec', 'read', 'write', 'upload', 'download', 'empty', 'spawn'] as const)(
  'the environment "inline" has nothing: %s is refused (HAR-20)',
  async (call) => {
    const { inline } = await import('./choose-environment.ts')
    const row = {
      task_id: 'a',
      instruction: '',
      verifier: { kind: 'llm_judge', judge_model: 'm', rubric: 'r' },
      metadata: {},
    }
    const open = {
      ...pluginContext(inline),
      task: { ...row, verifier: { kind: 'llm_judge' as const, judge_model: 'm', rubric: 'r' } },
      stateDir: '',
    }
    await using place = await inline.open(open)
    // Each takes what it likes: none gets as far as to look at it.
    const method = place[call] as (...all: unknown[]) => Promise<unknown>
    await expect(method('/x', '/y')).rejects.toThrow(/no files and runs no commands/)
    await expect(inline.open({ ...open, folder: { path: '/x' } })).rejects.toThrow(/"inline".*folder/)
  },
)
