import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { loadTaskFolder } from '../task/index.ts'
import { chooseEnvironment, machineCapabilities } from './choose-environment.ts'
import { defineFor, networkFaults } from './environment-definition.ts'
import { planEnvironment } from './plan-environment.ts'

const newFolder = temporaryFolders()
function means({ sandbox, docker }: { sandbox?: string | undefined; docker?: string | undefined }) {
  return { sandbox: async () => sandbox, docker: async () => docker }
}

function folder(toml: string, dockerfile = 'FROM debian'): { path: string } {
  const path = newFolder()
  const files = { 'task.toml': toml, 'instruction.md': 'x', 'environment/Dockerfile': dockerfile, 'tests/test.sh': '' }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return { path }
}

describe('chooseEnvironment', () => {
  const choose = (place: { path: string } | undefined, has: Parameters<typeof means>[0]) =>
    chooseEnvironment(place, means(has), {})

  it('takes the least that holds the task (HAR-80)', async () => {
    expect(await choose(undefined, {})).toEqual({ kind: 'inline', reasons: [] })
    expect(await choose(folder(''), {})).toEqual({ kind: 'local', reasons: [] })
    expect(await choose(folder('', 'FROM acme/x'), {})).toEqual({
      kind: 'docker',
      reasons: ['it starts from the image acme/x'],
    })
    expect(await choose(folder(''), { sandbox: 'no bubblewrap' })).toMatchObject({ kind: 'docker' })
  })

  it('never takes one that does less than the task asks for (HAR-20)', async () => {
    await expect(choose(folder('', 'FROM acme/x'), { docker: 'not installed' })).rejects.toThrow(
      /local: it starts from the image acme\/x\. docker: not installed/,
    )
    await expect(choose(folder(''), { sandbox: 'no namespaces', docker: 'not installed' })).rejects.toThrow(
      /no namespaces/,
    )
    const here = machineCapabilities(new AbortController().signal, join(newFolder(), 'no-docker'))
    await expect(chooseEnvironment(folder('', 'FROM acme/x'), here, {})).rejects.toThrow(
      /docker: .*cannot start .*no-docker/,
    )
    const list = '[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.com"]'
    await expect(choose(folder(list), {})).rejects.toThrow(/local: .*allowlist.*docker: .*allowlist/)
  })
})

const fixtures = fileURLToPath(new URL('../../../tests/fixtures/harbor-tasks', import.meta.url))
const commands = ['bash', 'ls', 'cat', 'mkdir', 'chmod', 'rm', 'cp', 'python3', 'git']
const has = (name: string) => commands.includes(name)

async function define(files: Record<string, string>, hostEnv = {}, links: Record<string, string> = {}) {
  const root = newFolder()
  const all = { 'task.toml': '', 'instruction.md': 'x', 'environment/.gitkeep': '', 'tests/test.sh': '', ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
  return defineFor(await loadTaskFolder(root), {}, hostEnv)
}

const reasonsOf = async (files: Record<string, string>) => {
  const plan = planEnvironment(await define(files), has)
  return plan.status === 'needs-image' ? plan.reasons : []
}

describe('planEnvironment', () => {
  it('runs the bases, folders, files and simple commands of a Dockerfile (HAR-80)', async () => {
    const folder = join(fixtures, 'multi-step-advanced')
    const plan = planEnvironment(defineFor(await loadTaskFolder(folder), {}, {}), has)
    expect(plan).toEqual({
      status: 'runnable-with-warnings',
      warnings: [
        'the programs of this machine stand in for those of debian:bookworm-slim',
        'not run, its commands are here: apt-get update (line 4)',
        'not run, its commands are here: apt-get install -y --no-install-recommends coreutils (line 4)',
      ],
      steps: [
        {
          kind: 'run',
          line: 4,
          argv: ['sh', '-c', 'true && true && rm -rf /var/lib/apt/lists/*'],
          cwd: '/',
          env: { NAME: 'greeter', PROJECT: 'greeter' },
        },
        { kind: 'folder', target: '/app' },
        { kind: 'copy', line: 7, sources: [join(folder, 'environment/banner.txt')], target: '/app', intoFolder: true },
        { kind: 'folder', target: '/app' },
      ],
      workdir: '/app',
      env: { PROJECT: 'greeter' },
    })
  })

  it('takes the workdir of task.toml before that of the image (HAR-14)', async () => {
    const dockerfile = 'FROM ubuntu\nWORKDIR /image\nWORKDIR sub\n'
    expect(planEnvironment(await define({ 'environment/Dockerfile': dockerfile }), has)).toMatchObject({
      workdir: '/image/sub',
    })
    const toml = '[environment]\nworkdir = "/own"'
    const both = await define({ 'environment/Dockerfile': dockerfile, 'task.toml': toml })
    expect(planEnvironment(both, has)).toMatchObject({ workdir: '/own' })
  })

  it('reads variables, lists, flags, continued lines and comments as Docker does (HAR-80)', async () => {
    const dockerfile = [
      'ARG TAG=24.04',
      'FROM ubuntu:${TAG} AS base',
      'FROM python:${TAG:-3}',
      'ENV A="one two" B=$A PATH=/opt/bin:$PATH',
      'ENV OLD form of it',
      'ARG DIR=/srv/app',
      'COPY --chmod=755 ["a b.txt", "${DIR}/"]',
      'RUN mkdir -p "$DIR/x" && \\',
      '    # a comment in between',
      '    echo "a && b; c" > f || true; cat f | cat',
      'CMD ["python3"]',
    ].join('\n')
    const plan = planEnvironment(await define({ 'environment/Dockerfile': dockerfile, 'environment/a b.txt': '' }), has)
    if (plan.status === 'needs-image') throw new Error(plan.reasons.join())
    expect(plan.env).toEqual({
      A: 'one two',
      B: '',
      PATH: '/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      OLD: 'form of it',
    })
    expect(plan.steps[0]).toMatchObject({ kind: 'copy', target: '/srv/app', intoFolder: true, mode: 0o755 })
    expect(plan.steps[1]).toMatchObject({
      kind: 'run',
      argv: ['sh', '-c', 'mkdir -p "$DIR/x" && echo "a && b; c" > f || true ; cat f | cat'],
      env: { DIR: '/srv/app' },
    })
  })

  it.each([
    ['FROM ghcr.io/acme/tool:1', 'it starts from the image ghcr.io/acme/tool:1'],
    ['FROM node:20', 'it starts from the image node:20, and this machine has no node'],
    ['FROM debian AS a\nFROM a', 'its image is built in stages (FROM a)'],
    ['FROM debian\nCOPY --from=x /a /b', 'its Dockerfile has COPY --from=x /a /b (line 2)'],
    ['FROM debian\nRUN pip install pytest', 'its Dockerfile has RUN with the command pip (line 2)'],
    ['FROM debian\nRUN apt-get install -y git nmap=7', 'its Dockerfile has RUN with the package nmap (line 2)'],
    [
      'FROM debian\nRUN x=$(curl evil)',
      'its Dockerfile has RUN with a command inside a command: x=$(curl evil) (line 2)',
    ],
    ['FROM debian\nRUN echo a &&\\\n curl evil', 'its Dockerfile has RUN with the command curl (line 2)'],
    ['FROM debian\nRUN <<EOF\ncurl\nEOF', 'its Dockerfile has RUN with a here-document (line 2)'],
    [
      'FROM debian\nRUN --mount=type=cache,target=/x ls',
      'its Dockerfile has RUN --mount=type=cache,target=/x (line 2)',
    ],
    ['FROM debian\nUSER agent', 'its Dockerfile has USER agent (line 2)'],
    ['FROM debian\nENTRYPOINT ["/start.sh"]', 'its Dockerfile has ENTRYPOINT ["/start.sh"] (line 2)'],
    ['FROM debian\nADD https://x.org/a /a', 'its Dockerfile has ADD of https://x.org/a (line 2)'],
    ['FROM debian\nADD a.tar.gz /a', 'its Dockerfile has ADD of a.tar.gz (line 2)'],
    ['FROM debian\nCOPY gone /a', 'its Dockerfile has COPY of gone, which is not there, (line 2)'],
    ['FROM debian\nCOPY . /usr/local/bin', 'its Dockerfile has COPY to /usr/local/bin (line 2)'],
    ['FROM debian\nONBUILD RUN ls', 'its Dockerfile has ONBUILD (line 2)'],
  ])('needs an image for %j (HAR-80)', async (dockerfile, reason) => {
    expect(await reasonsOf({ 'environment/Dockerfile': dockerfile })).toContain(reason)
  })

  it.each([
    ['[environment]\ngpus = 1', {}, 'it wants 1 GPU'],
    ['[environment]\nos = "windows"', { 'tests/test.bat': '' }, 'it runs on Windows'],
    ['[agent]\nuser = "agent"', {}, 'it runs commands as the account agent'],
    ['[verifier]\nuser = 1000', {}, 'it runs commands as the account 1000'],
    ['', { 'environment/docker-compose.yaml': 'services: {}' }, 'it has services of its own (docker-compose.yaml)'],
    ['[environment]\ndocker_image = "acme/x"', {}, 'it starts from the image acme/x'],
  ])('needs an image for %j %j (HAR-80)', async (toml, files, reason) => {
    expect(await reasonsOf({ 'task.toml': toml, ...files })).toEqual([reason])
  })

  it('finds no files outside of the build context (HAR-23)', async () => {
    const secret = newFolder()
    writeFileSync(join(secret, 'key'), 'secret')
    const copies = (line: string) =>
      define({ 'environment/Dockerfile': `FROM debian\n${line}`, key: 'x' }, {}, { 'environment/out': secret })
    expect(planEnvironment(await copies('COPY out/key /key'), has)).toMatchObject({ status: 'needs-image' })
    expect(planEnvironment(await copies('COPY ../key /key'), has)).toMatchObject({ status: 'needs-image' })
  })

  it('reports a file that is no Dockerfile with its line (HAR-80)', async () => {
    const definition = await define({ 'environment/Dockerfile': 'FROM debian\n\n???' })
    expect(() => planEnvironment(definition, has)).toThrow(
      expect.objectContaining({ where: expect.objectContaining({ line: 3 }) }),
    )
  })
})

describe('networkFaults', () => {
  const faults = async (toml: string, perPhase = true) =>
    networkFaults(await define({ 'task.toml': toml }), { perPhase })

  it('finds policies that cannot be enforced (HAR-20)', async () => {
    expect(await faults('[environment]\nnetwork_mode = "no-network"')).toEqual([])
    expect(await faults('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = []')).toEqual([])
    const list = 'network_mode = "allowlist"\nallowed_hosts = ["a.com"]'
    expect(await faults(`[environment]\n${list}`)).toEqual([
      expect.stringContaining('allowlist (environment: a.com)'),
      expect.anything(),
      expect.anything(),
    ])
    expect(await faults(`[agent]\n${list}`)).toEqual([expect.stringContaining('allowlist (agent: a.com)')])
    expect(await faults('[agent]\nnetwork_mode = "no-network"')).toEqual([])
    expect(await faults('[agent]\nnetwork_mode = "no-network"', false)).toEqual([
      'it cannot change the network between phases (agent: no-network, environment: public)',
    ])
  })
})
