import { describe, expect, it } from 'vitest'
import { EvsysError } from '../../kernel/index.ts'
import { readTaskConfig } from './read-task-config.ts'

const read = (text: string) => readTaskConfig(text, 'task.toml').config

function problemsOf(text: string) {
  try {
    readTaskConfig(text, 'task.toml')
  } catch (error) {
    if (!EvsysError.is(error)) throw error
    return error.problems.map(({ code, message, where, fix }) => ({ code, message, line: where?.line, fix }))
  }
  return []
}

const messages = (text: string) => problemsOf(text).map(({ message }) => message)

describe('readTaskConfig', () => {
  it.each(['1.0', '1.1', '1.2', '1.3', '1.4', '9.9'])(
    'takes schema version %s, also under its old name (HAR-1)',
    (version) => {
      expect(read(`version = "${version}"`).schema_version).toBe(version)
      expect(read(`schema_version = "${version}"`).schema_version).toBe(version)
      expect(read(`version = "1.0"\nschema_version = "${version}"`).schema_version).toBe(version)
    },
  )

  it('has the defaults of the schema (HAR-2)', () => {
    const config = read('schema_version = "1.4"')
    expect(config.agent.timeout_sec).toBeUndefined()
    expect(config.environment).toEqual({
      build_timeout_sec: 600,
      os: 'linux',
      network_mode: 'public',
      env: {},
      mcp_servers: [],
    })
    expect(config.verifier).toEqual({ env: {}, collect: [] })
    expect(config).toMatchObject({ multi_step_reward_strategy: 'mean', artifacts: [], steps: [], metadata: {} })
    expect(read('[environment]\nos = "Windows"').environment.os).toBe('windows')
  })

  it('turns old sizes into megabytes and refuses contradictions (HAR-3)', () => {
    const { environment } = read('[environment]\nmemory = "2G"\nstorage = "10G"')
    expect(environment).toMatchObject({ memory_mb: 2048, storage_mb: 10240 })
    expect(read('[environment]\nmemory = "2G"\nmemory_mb = 2048').environment.memory_mb).toBe(2048)
    expect(read('[environment]\nmemory = "512m"\nstorage = "2048K"').environment).toMatchObject({
      memory_mb: 512,
      storage_mb: 2,
    })
    expect(problemsOf('[environment]\nmemory = "2G"\nmemory_mb = 1024\n')).toEqual([
      {
        code: 'CONFIG_INVALID',
        message: 'environment.memory: "2G" is 2048 MB, but memory_mb is 1024',
        line: 2,
        fix: 'keep memory_mb alone.',
      },
    ])
    expect(messages('[environment]\nmemory = "lots"')).toEqual([
      'environment.memory: expected a size such as "2G" or "512M", got "lots"',
    ])
  })

  it('turns allow_internet into a mode, unless there is one (HAR-4)', () => {
    expect(read('[environment]\nallow_internet = false').environment.network_mode).toBe('no-network')
    expect(read('[environment]\nallow_internet = true').environment.network_mode).toBe('public')
    expect(read('[environment]\nallow_internet = false\nnetwork_mode = "public"').environment.network_mode).toBe(
      'public',
    )
    const { notices } = readTaskConfig('[environment]\nallow_internet = false\nmemory = "1G"', 'task.toml')
    expect(notices.map(({ message, where, fix }) => [message, where?.line, fix])).toEqual([
      ['environment.memory: is the old spelling of memory_mb', 3, 'write memory_mb = 1024.'],
      ['environment.allow_internet: is the old spelling of network_mode', 2, 'write network_mode = "no-network".'],
    ])
  })

  it('leaves unknown keys and metadata alone, and tells of a likely slip (HAR-5)', () => {
    const text = 'new_key = 1\n[agent]\ntimout_sec = 3\n[metadata]\nx = { y = [1, "a"] }\nwhen = 2026-01-31\n'
    const { config, notices } = readTaskConfig(text, 'task.toml')
    expect(config).toMatchObject({ new_key: 1, metadata: { x: { y: [1, 'a'] } } })
    expect(notices.map(({ message, where }) => [message, where?.line])).toEqual([
      ['agent.timout_sec: is not a key of a task.toml, and says nothing', 3],
    ])
  })

  it.each(['plain', 'a/b/c', '.a/b', 'a/..', 'a/b..c', 'a/ b', '/b'])('refuses the task name %j (HAR-6)', (name) => {
    expect(messages(`[task]\nname = ${JSON.stringify(name)}`)).toEqual([expect.stringContaining('task.name')])
    expect(read('[task]\nname = "org_1/my.task-2"').task?.name).toBe('org_1/my.task-2')
  })

  it.each([
    ['EXAMPLE.com.', 'example.com'],
    ['*.Example.com', '*.example.com'],
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8::/32', '2001:db8::/32'],
  ])('normalises the host %s (HAR-7)', (written, host) => {
    const config = read(`[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["${written}"]`)
    expect(config.environment.allowed_hosts).toEqual([host])
  })

  it.each([
    ...[
      'https://example.com',
      'example.com:443',
      'example.com/path',
      'exa mple.com',
      '*',
      'a.*.b',
      '1.2.3',
      '[::1]',
      '',
    ],
    ...['192.0.2.1/24', '192.0.2.0/33', '2001:db8::1/32', 'fe80::1%eth0', '*.192.0.2.1', '-a.com'],
  ])('refuses the host %j (HAR-7)', (host) => {
    const text = `[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["ok.com", ${JSON.stringify(host)}]`
    expect(problemsOf(text)).toMatchObject([
      { message: expect.stringContaining('environment.allowed_hosts.1: expected a host'), line: 3 },
    ])
  })

  it.each(['environment', 'agent', 'verifier'])('refuses hosts of [%s] without the mode for them (HAR-7)', (table) => {
    const mode = table === 'environment' ? 'network_mode = "no-network"' : ''
    expect(problemsOf(`[${table}]\n${mode}\nallowed_hosts = ["a.com"]`)).toMatchObject([
      { message: expect.stringContaining(`${table}.allowed_hosts`), line: 3 },
    ])
  })

  it('knows the transports of tool servers and what each needs (HAR-8)', () => {
    const server = (fields: string) => `[[environment.mcp_servers]]\nname = "s"\n${fields}`
    const [http] = read(server('transport = "http"\nurl = "http://s"')).environment.mcp_servers
    expect(http).toMatchObject({ transport: 'streamable-http', url: 'http://s', args: [] })
    expect(read(server('transport = "stdio"\ncommand = "c"')).environment.mcp_servers[0]?.transport).toBe('stdio')
    expect(messages(server('transport = "stdio"'))).toEqual([expect.stringContaining('mcp_servers.0.command')])
    expect(messages(server(''))).toEqual([expect.stringContaining('mcp_servers.0.url')])
    expect(messages(server('transport = "smoke"'))).toEqual([expect.stringContaining('transport')])
  })

  it('refuses a shared verifier with an environment of its own (HAR-9)', () => {
    const text = '[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1'
    expect(problemsOf(text)).toMatchObject([{ message: expect.stringContaining('verifier.environment'), line: 3 }])
  })

  it.each([
    ['"/app/../etc"', 'source'],
    ['{ source = "/a", destination = "/abs" }', 'destination'],
    ['{ source = "/a", destination = "x/../../y" }', 'destination'],
    ['{ source = "/a", destination = "x\\\\y" }', 'destination'],
    ['{ source = "/a", destination = "./manifest.json" }', 'destination'],
    ['{ source = "/a", destination = "./" }', 'destination'],
    ['{ source = "data", service = "db" }', 'source'],
  ])('refuses the artifact %s (HAR-43)', (artifact, key) => {
    expect(problemsOf(`# first\nartifacts = [${artifact}]`)).toMatchObject([
      { message: expect.stringContaining(`artifacts.0.${key}`), line: 2 },
    ])
    expect(messages(`[[steps]]\nname = "a"\nartifacts = [${artifact}]`)).toHaveLength(1)
  })

  it('tells every problem at once, with its line, and where the TOML ends being TOML (HAR-2)', async () => {
    const text = [
      'multi_step_reward_strategy = "max"',
      '[agent]',
      'timeout_sec = "long"',
      '[[steps]]',
      'name = "one"',
      '[[steps]]',
      'name = "a/b"',
      '[steps.verifier]',
      'timeout_sec = -1',
      '[[steps]]',
      'name = "one"',
    ].join('\n')
    const told = problemsOf(text).map(
      ({ code, message, line, fix }) => `task.toml:${line}  ${code}\n  ${message}\n  fix: ${fix}`,
    )
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('./golden/many-mistakes.txt')
    expect(problemsOf('[agent]\ntimeout_sec = = 3')).toMatchObject([{ code: 'CONFIG_SYNTAX', line: 2 }])
    expect(problemsOf('a = 1\na = 2')).toMatchObject([{ code: 'CONFIG_SYNTAX', line: 2 }])
  })
})
