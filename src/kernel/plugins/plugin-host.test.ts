import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { type InspectOptions, inspectPlugins } from './plugin-host.ts'

vi.setConfig({ testTimeout: 180_000 }) // processes start slowly on a busy machine
const folder = temporaryFolders()
const signal = new AbortController().signal

function project(files: Record<string, string>): string {
  const dir = folder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return dir
}

const good = (kind: string) => `
import { defineVerifier, z } from 'evsys/plugin'
export default defineVerifier({
  kind: '${kind}',
  summary: 'Compares.',
  params: z.strictObject({ n: z.number().default(1), deep: z.strictObject({ a: z.int() }).optional() }),
  verify: () => 1,
})
`

/** Loads one file with the given text beside a good one, and returns what is wrong with it. */
async function problemsOf(text: string, options: Partial<InspectOptions> = {}) {
  const dir = project({ 'src/plugins/bad.ts': text, 'src/plugins/good.ts': good('good') })
  await using inspected = await inspectPlugins({ projectDir: dir, signal, ...options })
  expect(inspected.plugins.map(({ card }) => card.kind)).toEqual(['good'])
  return inspected.problems.map(({ code, message, where, fix }) => {
    expect(fix).not.toBe('')
    expect(message).not.toMatch(/\n\s+at /)
    return `${code} ${where?.file.replace(dir, '')}:${where?.line} ${message}`
  })
}

type End = [name: string, text: string, end: RegExp, code?: 'PLUGIN_INVALID']

/** Loads files that end their processes beside a good one: each is reported with its place, in order, and the good one is loaded. */
async function expectEnds(ends: readonly End[], options: Partial<InspectOptions> = {}) {
  const files = ends.map(([name, text]) => [`src/plugins/${name}.ts`, text])
  const dir = project({ ...Object.fromEntries(files), 'src/plugins/good.ts': good('good') })
  await using inspected = await inspectPlugins({ projectDir: dir, signal, ...options })
  expect(inspected.plugins.map(({ card }) => card.kind)).toEqual(['good'])
  const problems = inspected.problems.map(({ code, message, where, fix }) => {
    expect(fix).not.toBe('')
    expect(message).not.toMatch(/\n\s+at /)
    return `${code} ${where?.file.replace(`${dir}/src/plugins/`, '')}:${where?.line} ${message}`
  })
  const sorted = ends
    .map(([name, , end, code = 'PLUGIN_LOAD']) => ({ file: `${name}.ts`, end, code }))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
  expect(problems).toEqual(
    sorted.map(({ file, end, code }) => expect.stringMatching(new RegExp(`^${code} ${file}${end.source}`))),
  )
}

describe('inspectPlugins', () => {
  it('knows plugins by their cards, hashes and places (KER-3, KER-14)', async () => {
    const dir = project({ 'src/plugins/exact.ts': good('exact') })
    await using inspected = await inspectPlugins({ projectDir: dir, signal })
    expect(inspected.problems).toEqual([])
    expect(inspected.plugins).toMatchObject([
      {
        card: {
          type: 'verifier',
          kind: 'exact',
          summary: 'Compares.',
          origin: 'src/plugins/exact.ts',
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          schema: { type: 'object', additionalProperties: false },
        },
        origin: { rank: 'project', where: { file: join(dir, 'src/plugins/exact.ts'), line: 4, col: 3 } },
      },
    ])
  })

  it('checks params in the child, in order, with values that JSON lacks (KER-5)', async () => {
    const dir = project({ 'src/plugins/a.ts': good('a'), 'src/plugins/b.ts': good('b') })
    await using inspected = await inspectPlugins({ projectDir: dir, signal })
    const params = [
      { n: 2 },
      {},
      { n: Number.POSITIVE_INFINITY },
      { m: 1 },
      { deep: { a: 'x' } },
      'text',
      null,
      undefined,
    ]
    const results = await inspected.check(
      params.map((each, i) => ({ type: 'verifier', kind: i % 2 ? 'b' : 'a', params: each })),
    )
    expect(results).toEqual([
      { ok: true, value: { n: 2 } },
      { ok: true, value: { n: 1 } },
      { ok: false, issues: [{ path: ['n'], code: 'invalid', message: 'expected a number, got Infinity' }] },
      {
        ok: false,
        issues: [{ path: [], code: 'unknown_key', message: 'unknown key "m"', keys: ['m'], known: ['n', 'deep'] }],
      },
      {
        ok: false,
        issues: [{ path: ['deep', 'a'], code: 'invalid', message: 'expected a whole number, got "x"' }],
      },
      { ok: false, issues: [{ path: [], code: 'invalid', message: 'expected a mapping, got "text"' }] },
      { ok: true, value: { n: 1 } },
      { ok: true, value: { n: 1 } },
    ])
    const loop: Record<string, unknown> = {}
    loop.n = loop
    expect(
      await inspected.check([
        { type: 'verifier', kind: 'a', params: loop },
        { type: 'verifier', kind: 'a', params: {} },
      ]),
    ).toMatchObject([
      { ok: false, issues: [{ message: 'cannot be checked: it leads back to itself, or is nested too deeply' }] },
      { ok: true },
    ])
    // Two conversations at a time stay apart.
    const [one, two] = await Promise.all([
      inspected.check([{ type: 'verifier', kind: 'a', params: { n: 1 } }]),
      inspected.check([{ type: 'verifier', kind: 'b', params: { n: 'x' } }]),
    ])
    expect([one[0]?.ok, two[0]?.ok]).toEqual([true, false])
  })

  it('needs no process for a project without plugins (KER-5)', async () => {
    await using inspected = await inspectPlugins({ projectDir: project({ 'data/a.txt': '' }), signal })
    expect(inspected).toMatchObject({ plugins: [], problems: [] })
    expect(await inspected.check([])).toEqual([])
  })

  it('gives plugins a scrubbed environment (KER-5)', async () => {
    process.env.EVSYS_TEST_SECRET = 'hidden'
    process.env.NODE_OPTIONS = '--no-deprecation'
    try {
      const problems = await problemsOf(`throw new Error(JSON.stringify(Object.keys(process.env).sort()))`)
      expect(problems[0]).not.toMatch(/EVSYS_TEST_SECRET|NODE_OPTIONS|VITEST/)
      expect(problems[0]).toMatch(/PATH/)
    } finally {
      delete process.env.EVSYS_TEST_SECRET
      delete process.env.NODE_OPTIONS
    }
  })
})

describe('a plugin that', () => {
  // How processes end is tested with the kit that starts them; here, that each end is put down to its file and line. They lie in
  // one project: each end costs a process, and the next file is loaded in another.
  it('ends its process at load is a typed error with file and line, beside all others (KER-5)', async () => {
    const ends: End[] = [
      ['throws', `\n\nthrow new Error('boom')`, /:3 an error was thrown while it was loaded: boom$/],
      ['exits', `const a = 1\nprocess.exit(0)`, /:2 ended the process with process.exit\(0\) while it was loaded$/],
      ['exits-the-hard-way', `process.reallyExit(3)`, /:1 ended the process with exit code 3 while it was loaded$/],
      ['aborts', `process.abort()`, /:1 ended the process with signal SIGABRT/],
      [
        'throws-in-a-timer',
        `\nsetTimeout(() => { throw new Error('late') }, 0)\nexport {}`,
        /:2 an error was thrown while it was loaded: late$/,
      ],
      ['rejects-where-nobody-waits', `\n\nvoid Promise.reject(new Error('lost'))\nexport {}`, /:3 .*lost$/],
      ['recurses-without-end', `\nfunction f() { f() }\nf()`, /:2 .*Maximum call stack/],
      [
        'fills-the-heap',
        `const a = []\nfor (;;) a.push(new Array(1e6).fill(a.length + 0.5))`,
        /:1 used more memory than it may/,
      ],
      [
        'fills-memory-with-buffers',
        `const a = []\nfor (;;) a.push(Buffer.alloc(64 * 1024 * 1024, 1))`,
        /:\d .*(used more than 1536 MB|memory|allocation failed)/,
      ],
      ['floods-stdout', `for (;;) console.log('x'.repeat(10000))`, /:1 printed more than 1 MB while it was loaded$/],
      ['floods-stderr', `for (;;) process.stderr.write('x'.repeat(10000))`, /:1 printed more than 1 MB/],
      [
        'floods-the-pipe',
        `import { writeSync } from 'node:fs'\nfor (;;) writeSync(3, 'x'.repeat(10000))`,
        /:1 printed more than 1 MB/,
      ],
      [
        'closes-the-pipes',
        `import { closeSync } from 'node:fs'\ncloseSync(3)\ncloseSync(4)`,
        /:1 ended the process with exit code 7/,
      ],
      ['does-not-parse', `const x = {`, /:1 syntax error: unexpected token$/],
      ['exports-a-number', `export default 3`, /:1 the default export: 3 is no plugin$/, 'PLUGIN_INVALID'],
    ]
    await expectEnds(ends)
  })

  it('does not finish is stopped and named (KER-5)', async () => {
    const ends: End[] = [
      [
        'loops',
        `let n = 0\n\nfunction spin() {\n  for (;;) n++\n}\nspin()`,
        /:4 does not finish: it was stopped after 1.5 s while it was loaded$/,
      ],
      ['waits-for-ever', `await new Promise(() => setInterval(() => {}, 1000))`, /:1 does not finish/],
      [
        'sleeps-in-the-system',
        `import { execFileSync } from 'node:child_process'\nexecFileSync(process.execPath, ['-e', 'setInterval(() => {}, 9999)'])`,
        /:1 does not finish/,
      ],
    ]
    await expectEnds(ends, { timeoutMs: 1500 })
  })

  it.each([
    ['process.send', `process.send?.({ say: 'ready' }); process.send = () => true`],
    [
      'stdout',
      `for (const say of ['ready', 'hashes']) console.log(JSON.stringify({ say, hashes: ['forged'], plugins: [] }))`,
    ],
    [
      'the pipe',
      `import { writeSync } from 'node:fs'\nwriteSync(3, 'x{"say":"ready"}\\n{"say":"hashes","hashes":["forged"]}\\nno line end')`,
    ],
    [
      'built-in functions',
      `import fs from 'node:fs'\nfs.writeSync = () => { throw new Error('x') }\nprocess.stdout.write = () => true`,
    ],
  ])('tampers with %s changes nothing (KER-5)', async (_name, tampering) => {
    const text = `${tampering}\n${good('mine')}`
    const dir = project({ 'src/plugins/mine.ts': text, 'src/plugins/other.ts': good('other') })
    await using inspected = await inspectPlugins({ projectDir: dir, signal })
    expect(inspected.problems).toEqual([])
    expect(inspected.plugins.map(({ card }) => card.kind)).toEqual(['mine', 'other'])
    expect(inspected.plugins.map(({ card }) => card.hash)).not.toContain('forged')
    expect(await inspected.check([{ type: 'verifier', kind: 'other', params: { n: 3 } }])).toEqual([
      { ok: true, value: { n: 3 } },
    ])
  })

  it.each([
    [
      'breaks the language',
      `Array.prototype.map = Array.prototype.filter = undefined\nexport default 1`,
      /^PLUGIN_LOAD \/src\/plugins\/bad.ts:1 an error was thrown while it was loaded: .* is not a function$/,
    ],
    [
      'breaks JSON',
      `JSON.stringify = () => '{}'\nexport default 1`,
      /^PLUGIN_INVALID \/src\/plugins\/bad.ts:2 the default export: 1 is no plugin$/,
    ],
    [
      'lies about its own shape',
      `Object.prototype.toJSON = () => 7\nexport default 1`,
      /^PLUGIN_LOAD \/src\/plugins\/bad.ts:1 disturbed the process that loads plugins while it was loaded$/,
    ],
  ])('%s is an error, and the others load (KER-5)', async (_name, text, expected) => {
    expect(await problemsOf(text)).toEqual([expect.stringMatching(expected)])
  })

  it('prints a little is left alone (KER-5)', async () => {
    const dir = project({ 'src/plugins/a.ts': `console.log('hello')\nconsole.error('there')\n${good('a')}` })
    await using inspected = await inspectPlugins({ projectDir: dir, signal })
    expect(inspected.problems).toEqual([])
  })
})

describe('a schema that', () => {
  const schema = (check: string) => `
import { defineVerifier, z } from 'evsys/plugin'
export default defineVerifier({
  kind: 'odd',
  summary: 'Odd.',
  params: z.strictObject({ n: z.number().refine((n) => { ${check}; return true }) }),
  verify: () => 1,
})
`
  it.each([
    ['throws', `if (n === 1) throw new Error('boom')`, /cannot be checked: boom/],
    ['exits', `if (n === 1) process.exit(3)`, /cannot be checked: .*process.exit\(3\)/],
    ['loops', `while (n === 1);`, /cannot be checked: does not finish/],
  ])('%s on one value answers for the others (KER-5)', async (_name, check, expected) => {
    const dir = project({ 'src/plugins/odd.ts': schema(check), 'src/plugins/good.ts': good('good') })
    await using inspected = await inspectPlugins({ projectDir: dir, signal, timeoutMs: 1500 })
    const results = await inspected.check([
      { type: 'verifier', kind: 'good', params: { n: 5 } },
      { type: 'verifier', kind: 'odd', params: { n: 1 } },
      { type: 'verifier', kind: 'odd', params: { n: 2 } },
      { type: 'verifier', kind: 'good', params: {} },
    ])
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true])
    expect(results[1]).toMatchObject({
      issues: [{ path: [], code: 'invalid', message: expect.stringMatching(expected) }],
    })
  })
})

describe('the process that holds plugins', () => {
  const waiting = { timeout: 60_000, interval: 20 }
  const pidFile = (dir: string) => join(dir, 'pid')
  const remember = (dir: string) => `
import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(pidFile(dir))}, String(process.pid))
`
  const isAlive = (pid: number) => {
    if (existsSync('/proc/self/exe')) return existsSync(`/proc/${pid}/exe`) // false for what nobody has buried yet
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  it('is gone when it is closed (KER-5)', async () => {
    const dir = project({})
    const own = project({ 'src/plugins/a.ts': remember(dir) + good('a') })
    const inspected = await inspectPlugins({ projectDir: own, signal })
    const pid = Number(readFileSync(pidFile(dir), 'utf8'))
    expect(isAlive(pid)).toBe(true)
    await inspected[Symbol.asyncDispose]()
    expect(isAlive(pid)).toBe(false)
  })

  it('ends at once when the caller cancels (KER-5)', async () => {
    const dir = project({})
    const own = project({ 'src/plugins/a.ts': `${remember(dir)}\nfor (;;);` })
    const controller = new AbortController()
    const inspected = inspectPlugins({ projectDir: own, signal: controller.signal })
    await vi.waitUntil(() => existsSync(pidFile(dir)), waiting)
    controller.abort(new Error('enough'))
    await expect(inspected).rejects.toThrow('enough')
  })

  it('takes with it what a plugin started (KER-5)', async () => {
    const dir = project({})
    const own = project({
      'src/plugins/a.ts': `
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1e6)'], { stdio: 'inherit' })
writeFileSync(${JSON.stringify(pidFile(dir))}, String(child.pid))
${good('a')}`,
    })
    const inspected = await inspectPlugins({ projectDir: own, signal })
    const pid = Number(readFileSync(pidFile(dir), 'utf8'))
    expect(isAlive(pid)).toBe(true)
    await inspected[Symbol.asyncDispose]()
    expect(isAlive(pid)).toBe(false)
  })

  it.each([
    ['is busy', 'for (;;);'],
    ['waits', ''],
  ])('ends when the controller is killed, while it %s (KER-5)', async (_name, then) => {
    const dir = project({})
    const own = project({ 'src/plugins/a.ts': `${remember(dir)}\n${then}\n${good('a')}` })
    const controller = startChild('inspect-plugins', [own])
    await vi.waitUntil(() => existsSync(pidFile(dir)) && readFileSync(pidFile(dir), 'utf8') !== '', waiting)
    const pid = Number(readFileSync(pidFile(dir), 'utf8'))
    expect(isAlive(pid)).toBe(true)
    await controller.kill()
    await vi.waitUntil(() => !isAlive(pid), waiting)
  })
})
