import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../../tests/needs.ts'
import { processesWith } from '../../tests/processes-with.ts'
import { startChild } from '../../tests/start-child.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import type { ExecSpec } from '../contracts/index.ts'
import { openSandbox, probeSandboxes } from './index.ts'

const folder = temporaryFolders()
const linux = needs('a Linux sandbox (bwrap, unshare, setpriv)', () => {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
  for (const tool of ['bwrap', 'unshare', 'setpriv', 'prlimit', 'pivot_root'])
    execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { env })
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'], { env })
  return true
})

const limits = { timeoutMs: 20_000, memoryBytes: 256 << 20, outputBytes: 100_000, processes: 32, diskBytes: 64 << 20 }
const signal = AbortSignal.timeout(120_000)
const sh = (script: string, more: Partial<ExecSpec> = {}): ExecSpec => ({
  argv: ['/bin/sh', '-c', script],
  limits,
  ...more,
})

linux.describe('a sandbox', () => {
  it('has the strongest level that works (BOX-1)', async () => {
    const probes = await probeSandboxes()
    expect(probes.filter(({ reason }) => reason === undefined).map(({ level }) => level)).toContain('bubblewrap')
    await using sandbox = await openSandbox({ stateDir: folder() })
    expect(sandbox.level).toBe('bubblewrap')
    expect(sandbox.limits.disk).toBe('rlimit and watch')
  })

  for (const level of ['bubblewrap', 'chroot'] as const) {
    linux.describe(level, () => {
      it('hides paths also in the folders that every sandbox shows (RES-413)', async () => {
        const hidden = ['/usr/share', '/usr/bin/env', '/nowhere', folder()]
        await using sandbox = await openSandbox({ stateDir: folder(), level, hidden })
        const { stdout } = await sandbox.exec(sh('ls -A /usr/share; cat /usr/bin/env; echo nothing'), signal)
        expect(stdout).toBe('nothing\n')
      })

      it('shows mounts, keeps files, and gives input, folder and environment (BOX-2, BOX-3)', async () => {
        const dir = folder()
        const place = (name: string) => {
          mkdirSync(join(dir, name))
          return join(dir, name)
        }
        const [app, tests, closed] = [place('a b'), place('tests'), place('closed')]
        writeFileSync(join(tests, 'test.sh'), 'echo tested')
        writeFileSync(join(closed, 'note'), 'for nobody else', { mode: 0o600 })
        chmodSync(closed, 0o700)
        const mounts = [
          { source: app, target: '/app', writable: true },
          { source: closed, target: '/logs/deep/closed' },
          { source: join(tests, 'test.sh'), target: '/data/test.sh' },
        ]
        await using sandbox = await openSandbox({ stateDir: join(dir, 'state'), level, mounts })
        const script =
          'pwd; cat; printf "%s\\n" "$A"; id -u; cat /logs/deep/closed/note /data/test.sh; echo made > made; mkdir /own; ls -d /tests'
        const result = await sandbox.exec(
          sh(script, { cwd: '/app', stdin: 'input\n', env: { A: `it's "$x" \\n` } }),
          signal,
        )
        expect(result.stdout).toBe(`/app\ninput\nit's "$x" \\n\n0\nfor nobody elseecho tested`)
        expect(result).toMatchObject({ exitCode: 2, signal: null, truncated: false })
        expect(readFileSync(join(app, 'made'), 'utf8')).toBe('made\n')
        // A file that our own process adds later can be changed inside.
        writeFileSync(join(app, 'ours'), 'ours', { mode: 0o600 })
        sandbox.remount([...mounts, { source: tests, target: '/tests' }])
        const second = await sandbox.exec(
          sh('ls -d /own /tests; echo more >> /app/ours; sh /tests/test.sh; env | sort'),
          signal,
        )
        expect(second.stdout).toMatch(
          /^\/own\n\/tests\ntested\nHOME=\/root\nLANG=C.UTF-8\n(OLDPWD=.*\n)?PATH=.*\n(PWD=.*\n)?TERM=dumb\n$/,
        )
        expect(readFileSync(join(app, 'ours'), 'utf8')).toBe('oursmore\n')
      })

      it('takes a folder of the caller as its root, whatever hostile code made of it (BOX-2)', async () => {
        const dir = folder()
        const [root, outside, tests] = ['root', 'outside', 'tests'].map((name) => join(dir, name)) as [
          string,
          string,
          string,
        ]
        for (const each of [root, outside, tests]) mkdirSync(each)
        for (const name of ['tests', 'etc', 'var', 'usr']) symlinkSync(outside, join(root, name))
        writeFileSync(join(tests, 'true'), 'true')
        const mounts = [
          { source: root, target: '/', writable: true },
          { source: tests, target: '/tests' },
        ]
        await using sandbox = await openSandbox({ stateDir: join(dir, 'state'), level, mounts })
        expect((await sandbox.exec(sh('cat /tests/true; echo here > /here'), signal)).stdout).toBe('true')
        expect(existsSync(join(outside, 'tmp'))).toBe(false)
        expect(readFileSync(join(root, 'here'), 'utf8')).toBe('here\n')
        symlinkSync('/etc', join(root, 'link'))
        expect(() => sandbox.remount([...mounts, { source: join(root, 'link'), target: '/x' }])).toThrow(/leads out/)
      })

      it('tells how a command ended (BOX-4)', async () => {
        await using sandbox = await openSandbox({ stateDir: folder(), level })
        const end = async (script: string, more: Partial<typeof limits> = {}) => {
          const {
            exitCode,
            signal: killer,
            limitHit,
          } = await sandbox.exec(sh(script, { limits: { ...limits, ...more } }), signal)
          return [exitCode, killer, limitHit]
        }
        expect(await end('exit 7')).toEqual([7, null, undefined])
        expect(await end('kill -9 $$')).toEqual([137, 'SIGKILL', undefined])
        expect(await end('while :; do :; done', { timeoutMs: 100 })).toEqual([null, 'SIGKILL', 'timeoutMs'])
        // By the kernel at the first byte too many, or by our look at the disk.
        expect((await end('exec head -c 3000000 /dev/zero > /tmp/x', { diskBytes: 1e6 })).at(2)).toBe('diskBytes')
        const missing = await sandbox.exec({ argv: ['no-such-program'], limits }, signal)
        expect(missing).toMatchObject({ exitCode: 127, stderr: expect.stringContaining('not found') })
        expect((await sandbox.exec(sh('true', { cwd: '/nowhere' }), signal)).exitCode).toBe(126)
      })

      it('ends a command that floods when nobody reads it any more (BOX-5)', async () => {
        await using sandbox = await openSandbox({ stateDir: folder(), level })
        const flood = await sandbox.spawn(sh('while :; do echo 0123456789012345678901234567890123456789; done'), signal)
        for await (const { text } of flood.output) if (text !== '') break
        await new Promise((resolve) => setTimeout(resolve, 300)) // what is written waits now
        await flood[Symbol.asyncDispose]()
        expect(await flood.exit).toMatchObject({ signal: 'SIGKILL' })
      })

      it('talks with a command that goes on, and ends it (BOX-7, BOX-5)', async () => {
        await using sandbox = await openSandbox({ stateDir: folder(), level })
        const tag = `talk-${process.pid}-${level}`
        const argv = ['/bin/sh', '-c', 'while read line; do echo "got $line"; done; echo over >&2', tag]
        const talk = await sandbox.spawn({ argv, limits }, signal)
        const said = talk.output[Symbol.asyncIterator]()
        await talk.write('one\n')
        expect((await said.next()).value).toEqual({ stream: 'stdout', text: 'got one\n' })
        await talk.end()
        expect((await said.next()).value).toEqual({ stream: 'stderr', text: 'over\n' })
        expect((await said.next()).done).toBe(true)
        expect(await talk.exit).toMatchObject({ exitCode: 0, stdout: 'got one\n', stderr: 'over\n' })
        const other = await sandbox.spawn({ argv, limits }, signal)
        await other.write('two\n')
        await other.output[Symbol.asyncIterator]().next()
        await sandbox.killAll()
        expect(await other.exit).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
        expect(processesWith(tag)).toEqual([])
      })

      it('ends with the signal of its caller, with a typed error where it cannot be made (BOX-5, BOX-8)', async () => {
        const dir = folder()
        await using sandbox = await openSandbox({ stateDir: join(dir, 'state'), level })
        const tag = `cancel-${process.pid}-${level}`
        const own = new AbortController()
        const talk = await sandbox.spawn({ argv: ['/bin/sh', '-c', 'echo up; read x', tag], limits }, own.signal)
        await talk.output[Symbol.asyncIterator]().next()
        own.abort(new Error('enough'))
        await expect(talk.exit).rejects.toThrow('enough')
        expect(processesWith(tag)).toEqual([])
        await expect(sandbox.exec(sh('true', { network: true }), signal)).rejects.toMatchObject({
          code: 'SANDBOX_FAILED',
        })
        await expect(sandbox.exec(sh('true', { env: { 'a;b': '' } }), signal)).rejects.toMatchObject({
          code: 'SANDBOX_FAILED',
        })
        for (const target of ['/usr/x', 'app', '/a/../etc', '/proc/x', '/dev'])
          expect(() => sandbox.remount([{ source: dir, target }]), target).toThrow(/target/)
        expect(() => sandbox.remount([{ source: join(dir, 'none'), target: '/x' }])).toThrow(/ENOENT/)
      })

      it('shows the devices that it was opened with, and no other (BOX-11)', async () => {
        const dir = folder()
        const devices = [
          { source: '/dev/null', target: '/dev/nvidia0' },
          { source: '/dev/zero', target: '/dev/nvidia-caps/nvidia-cap1' },
        ]
        await using sandbox = await openSandbox({ stateDir: join(dir, 'state'), level, devices })
        const look =
          'echo x > /dev/nvidia0 && head -c 2 /dev/nvidia-caps/nvidia-cap1 | wc -c; rm /dev/nvidia0; ls -d /dev/nvidia*'
        const { stdout } = await sandbox.exec(sh(look), signal)
        expect(stdout.trim()).toMatch(/^2\n\/dev\/nvidia-caps\n\/dev\/nvidia0$/)
        // What NVIDIA's driver does first, and what nobody may.
        const named =
          'printf named > /proc/self/task/$$/comm; cat /proc/$$/comm; echo x > /proc/sys/kernel/domainname; id -u'
        const driver = await sandbox.exec(sh(named), signal)
        expect(driver.stdout.trim()).toMatch(/^named\s+\d+$/)
        expect(driver.stderr).toMatch(/domainname/)
        writeFileSync(join(dir, 'file'), '')
        for (const [source, target] of [
          [join(dir, 'file'), '/dev/x'],
          ['/dev', '/dev/x'],
          ['/dev/null', '/dev/../etc/x'],
          ['/dev/null', '/dev/a/b/c'],
          ['/dev/null', '/x'],
          ['/dev/nothing-here', '/dev/x'],
        ] as const)
          await expect(
            openSandbox({ stateDir: join(dir, 'other'), level, devices: [{ source, target }] }),
            target,
          ).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
      })

      it('dies with our process, even when that is killed (BOX-5)', async () => {
        const tag = `orphan-${process.pid}-${level}`
        await using child = startChild('hold-sandbox', [folder(), level, tag])
        expect(await child.line()).toBe('up')
        expect(processesWith(tag).length).toBeGreaterThan(0)
        await child.kill()
        const deadline = Date.now() + 20_000
        while (processesWith(tag).length > 0 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 5))
        expect(processesWith(tag)).toEqual([])
      })
    })
  }

  it('isolates nothing only where that is asked for by name (BOX-1)', async () => {
    await using sandbox = await openSandbox({ stateDir: folder(), level: 'process' })
    const result = await sandbox.exec(sh('echo "$A$EVSYS_TEST_SCALE$HOME"', { env: { A: 'a', HOME: '/h' } }), signal)
    expect([sandbox.level, result.stdout]).toEqual(['process', 'a/h\n'])
  })
})
