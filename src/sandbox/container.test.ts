import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { needs } from '../../tests/needs.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { openSandbox } from './index.ts'

const folder = temporaryFolders()
const before = process.env.PATH
afterAll(() => {
  process.env.PATH = before
})

// A docker that knows one image, writes down what it is asked, and runs commands where it stands.
const double = `#!/bin/sh
here=$(dirname "$0")
case $1 in
  version) echo 27.1 ;;
  image) [ "$5" = known ] || exit 1 ;;
  kill) echo "$2" > "$here/killed" ;;
  run) for word; do printf '%s\\n' "$word"; done > "$here/asked"
    while [ "$1" != -- ]; do shift; done; [ "$2" = known ] || exit 1; shift 2
    [ "$1" = broken ] && { echo 'no such engine' >&2; exit 125; }
    exec "$@" ;;
esac
`
const limits = { timeoutMs: 20_000, memoryBytes: 64 << 20, outputBytes: 10_000, processes: 8, diskBytes: 1 << 20 }
const signal = AbortSignal.timeout(60_000)

const programs = needs('the usual programs of a system', () => {
  execFileSync('sh', ['-c', 'command -v dirname'])
  return true
})

programs.describe('the level container', () => {
  const bin = folder()
  writeFileSync(join(bin, 'docker'), double, { mode: 0o755 })
  process.env.PATH = `${bin}${delimiter}${before}`

  it('runs a command in a fresh container without network and rights, and with its limits (BOX-1, BOX-4)', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'app'))
    const mounts = [{ source: join(dir, 'app'), target: '/app', writable: true }]
    await using sandbox = await openSandbox({
      stateDir: join(dir, 'state'),
      level: 'container',
      image: 'known',
      mounts,
    })
    expect([sandbox.level, sandbox.limits.memory]).toEqual(['container', 'engine'])
    const env = { TOKEN: 'not for arguments' }
    const { stdout, exitCode } = await sandbox.exec(
      { argv: ['/bin/sh', '-c', 'echo "$TOKEN"; exit 3'], env, limits },
      signal,
    )
    expect([stdout, exitCode]).toEqual(['not for arguments\n', 3])
    const asked = readFileSync(join(bin, 'asked'), 'utf8')
    expect(asked).not.toContain(env.TOKEN)
    for (const words of [
      '--network\nnone',
      '--cap-drop\nALL',
      '--pids-limit\n10',
      `--memory\n${limits.memoryBytes}`,
      '--read-only',
    ])
      expect(asked).toContain(words)
    expect(asked).toContain(`type=bind,source=${join(dir, 'app')},target=/app\n`)
  })

  it('kills the container, and tells a broken engine from a failed command (BOX-5, BOX-8)', async () => {
    await using sandbox = await openSandbox({ stateDir: folder(), level: 'container', image: 'known' })
    await expect(sandbox.exec({ argv: ['broken'], limits }, signal)).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
      message: expect.stringContaining('no such engine'),
    })
    const talk = await sandbox.spawn({ argv: ['/bin/sh', '-c', 'echo up; read x'], limits }, signal)
    await talk.output[Symbol.asyncIterator]().next()
    await sandbox.killAll()
    expect(await talk.exit).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    await expect.poll(() => existsSync(join(bin, 'killed'))).toBe(true)
  })

  it('needs its image on the machine (BOX-1)', async () => {
    const opened = openSandbox({ stateDir: folder(), level: 'container', image: 'unknown' })
    await expect(opened).rejects.toMatchObject({
      code: 'SANDBOX_MISSING',
      fix: expect.stringContaining('docker pull unknown'),
    })
  })
})
