import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { dockerDouble } from '../../../tests/docker-double.ts'
import { needs } from '../../../tests/needs.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { loadTaskFolder, taskRow } from '../task/index.ts'
import { docker } from './docker.ts'
import { environmentId, isOrphan, ownerOfThis } from './docker-container.ts'

const newFolder = temporaryFolders()
const linux = needs('Linux with its usual programs', () => {
  execFileSync('sh', ['-c', 'command -v mkdir chmod tar'])
  return process.platform === 'linux' || `this is ${process.platform}`
})
const fixtures = fileURLToPath(new URL('../../../tests/fixtures/harbor-tasks', import.meta.url))
const { signal } = new AbortController()

function taskFolder(files: Record<string, string>): string {
  const root = newFolder()
  const all = {
    'task.toml': '',
    'instruction.md': 'x',
    'environment/Dockerfile': 'FROM x',
    'tests/test.sh': 'true',
    ...files,
  }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

async function openAt(path: string, { double = dockerDouble(newFolder()), params = {} } = {}) {
  const task = await taskRow(await loadTaskFolder(path))
  const context = pluginContext(docker, { program: double.program, ...params })
  const place = await docker.open({ ...context, task, folder: { path }, stateDir: newFolder() })
  const [container = ''] = double.containers()
  return {
    place,
    double,
    container,
    root: double.rootOf(container),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}

const sh = (line: string) => ['sh', '-c', line]

linux.describe('the environment "docker"', () => {
  it('builds, starts with limits and labels, and removes the container once (HAR-22)', async () => {
    const toml =
      '[environment]\ncpus = 2\nmemory_mb = 256\nnetwork_mode = "no-network"\nworkdir = "/custom-workdir"\nenv = { A = "1" }'
    const path = taskFolder({ 'task.toml': toml })
    const { place, double } = await openAt(path)
    const image = `hb__${await environmentId(join(path, 'environment'))}`
    expect(double.callsOf('build')).toEqual([['build', '--tag', image, join(path, 'environment')]])
    const [run = []] = double.callsOf('run')
    const text = run.join(' ')
    expect(text).toContain(
      '--network none --memory 256m --memory-swap 256m --pids-limit 512 --security-opt no-new-privileges --cpus 2',
    )
    expect(text).toContain(`--label evsys.owner=${ownerOfThis()}`)
    expect(text).not.toContain('A=1')
    expect(run.slice(-4)).toEqual([image, 'sh', '-c', 'sleep infinity'])
    await place[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
    expect(double.callsOf('rm')).toHaveLength(1)
    expect(double.containers()).toEqual([])
  })

  it('runs commands where and with what they say, and its own variables rule docker (HAR-14, HAR-16, HAR-18)', async () => {
    const toml = '[environment]\nenv = { A = "env", DOCKER_HOST = "evil" }'
    await using opened = await openAt(
      taskFolder({ 'task.toml': toml, 'environment/Dockerfile': 'FROM x\nWORKDIR /app' }),
    )
    const { place, root, double } = opened
    expect(place.workdir).toBe('/app')
    expect(await place.exec({ argv: sh('pwd; echo $A $DOCKER_HOST; echo err >&2; exit 3') }, signal)).toEqual({
      exitCode: 3,
      signal: null,
      stdout: `${root}/app\nenv evil\n`,
      stderr: 'err\n',
      truncated: false,
    })
    expect(double.callsOf('run').join()).not.toContain('evil')
    const env = { A: 'own', LINES: 'a\nb' }
    const limits = { outputBytes: 8 }
    const command = {
      argv: sh('echo $A "$LINES"; cat >&2'),
      cwd: '/logs',
      env,
      stdin: 'in, and more than that',
      limits,
    }
    expect(await place.exec(command, signal)).toMatchObject({
      stdout: 'own a\nb\n',
      stderr: 'in, and \n[output cut here]\n',
      truncated: true,
    })
    await using process = await place.spawn({ argv: sh('while read line; do echo "got $line"; done; exit 4') }, signal)
    await process.write('one\n')
    const heard: string[] = []
    for await (const { text } of process.output) {
      heard.push(text)
      if (heard.join('').includes('got one')) await process.end()
    }
    expect(await process.exit).toMatchObject({ exitCode: 4, stdout: 'got one\n' })
  })

  it('ends commands inside, and follows no link of the container on this machine (HAR-17, HAR-23, HAR-42)', async () => {
    await using opened = await openAt(join(fixtures, 'workdir'))
    const { place, root } = opened
    const loop = 'while :; do echo x >> /data/beat; done'
    mkdirSync(join(root, 'data'))
    const timed = await place.exec({ argv: sh(`echo begun; (${loop}) & ${loop}`), limits: { timeoutMs: 1000 } }, signal)
    expect(timed).toMatchObject({ limitHit: 'timeoutMs', exitCode: null, stdout: 'begun\n' })
    const beats = readFileSync(join(root, 'data/beat')).length
    const stop = new AbortController()
    const running = place.exec({ argv: sh(`echo x > /data/on; while :; do :; done`) }, stop.signal)
    while (!existsSync(join(root, 'data/on'))) await new Promise((resolve) => setTimeout(resolve, 5))
    stop.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect(readFileSync(join(root, 'data/beat')).length).toBe(beats)

    const secret = join(newFolder(), 'key')
    writeFileSync(secret, 'secret')
    await place.write('/app/sub/a.txt', Buffer.from('a'))
    expect(Buffer.from(await place.read('/app/sub/a.txt')).toString()).toBe('a')
    symlinkSync(secret, join(root, 'app/link'))
    const target = join(newFolder(), 'out')
    await place.download('/app', target)
    expect(readFileSync(join(target, 'sub/a.txt'), 'utf8')).toBe('a')
    expect(existsSync(join(target, 'link'))).toBe(false)
    await place.upload(join(fixtures, 'workdir/tests'), '/tests')
    expect(existsSync(join(root, 'tests/test.sh'))).toBe(true)
    await place.empty('/tests')
    expect(existsSync(join(root, 'tests/test.sh'))).toBe(false)
    expect(existsSync(join(root, 'tests'))).toBe(true)
    await expect(place.read('/app/gone')).rejects.toThrow(/docker could not copy/)
  })

  it('refuses before it starts what it cannot hold, with its name (HAR-20)', async () => {
    const refused = async (files: Record<string, string>, double = dockerDouble(newFolder())) => {
      const message = await openAt(taskFolder(files), { double }).then(
        () => 'opened',
        (error: Error) => error.message,
      )
      expect(double.containers()).toEqual([])
      expect(double.callsOf('run')).toEqual([])
      return message
    }
    const list = 'network_mode = "allowlist"\nallowed_hosts = ["a.com"]'
    expect(await refused({ 'task.toml': `[environment]\n${list}` })).toMatch(/"docker".*allowlist/)
    expect(await refused({ 'task.toml': '[agent]\nnetwork_mode = "no-network"' })).toMatch(/"docker".*between phases/)
    expect(await refused({ 'environment/docker-compose.yaml': 'services: {}' })).toMatch(
      /docker compose does not answer/,
    )
    expect(await refused({ 'environment/Dockerfile': 'FAIL' })).toMatch(/could not build/)
    expect(await refused({ 'task.toml': '[environment]\ndocker_image = "missing/x"' })).toMatch(
      /could not pull missing\/x/,
    )
    const down = newFolder()
    writeFileSync(join(down, 'down'), '')
    expect(await refused({}, dockerDouble(down))).toMatch(/"docker".*engine does not answer: Cannot connect/)
    const none = { ...dockerDouble(newFolder()), program: join(newFolder(), 'none') }
    expect(await refused({}, none)).toMatch(/"docker" cannot start/)
  })

  it('removes the container when its healthcheck fails (HAR-21, HAR-22)', async () => {
    const double = dockerDouble(newFolder())
    const toml = '[environment.healthcheck]\ncommand = "false"\ninterval_sec = 0.01\nretries = 2'
    await expect(openAt(taskFolder({ 'task.toml': toml }), { double })).rejects.toMatchObject({
      name: 'HealthcheckError',
    })
    expect(double.containers()).toEqual([])
  })

  it('removes containers of processes that are gone, and tells when its own is (HAR-22)', async () => {
    const folder = newFolder()
    const double = dockerDouble(folder)
    for (const [name, owner] of [
      ['orphan', `${hostname()}/${2 ** 22 - 3}/1`],
      ['other', 'elsewhere/1/1'],
    ]) {
      mkdirSync(join(folder, 'containers', name ?? '', 'root'), { recursive: true })
      const meta = { options: { '--label': [`evsys.owner=${owner}`] }, workdir: '' }
      writeFileSync(join(folder, 'containers', name ?? '', 'meta.json'), JSON.stringify(meta))
    }
    await using opened = await openAt(taskFolder({}), { double })
    expect(double.containers()).not.toContain('orphan')
    expect(double.containers()).toContain('other')
    const own = double.containers().find((name) => name !== 'other') ?? ''
    await opened.place.killAll()
    await opened.place[Symbol.asyncDispose]()
    expect(double.containers()).not.toContain(own)
    await expect(opened.place.exec({ argv: ['true'] }, signal)).rejects.toThrow(/container of the trial is gone/)
  })
})

describe('isOrphan', () => {
  it('spares processes that live, and those of other machines (HAR-22)', () => {
    expect(isOrphan(ownerOfThis())).toBe(false)
    expect(isOrphan('elsewhere/1/1')).toBe(false)
    expect(isOrphan('nonsense')).toBe(false)
    expect(isOrphan(`${hostname()}/${process.pid}/not-its-start`)).toBe(process.platform === 'linux')
  })
})
