// A project whose one plugin does on request what plugins must not: it is the recipe of runs that have to fail alone.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the transform `act` can be asked to do, as the body of a function of the params `p` and the context `c`. */
const acts = {
  nothing: '',
  'tell its process': `c.log('info', 'pid ' + process.pid)`,
  'tell its environment': `c.log('info', JSON.stringify({ env: Object.keys(process.env), cwd: process.cwd(), argv: process.argv.slice(2) }))`,
  exit: `console.log('about to leave'); process.exit(3)`,
  'exit underhand': `process.reallyExit(7)`,
  'kill itself': `process.kill(process.pid, 'SIGSEGV')`,
  'throw in a timer': `setTimeout(() => { throw new Error('boom in a timer') }, 1); await new Promise((done) => setTimeout(done, 60_000))`,
  'reject unheard': `Promise.reject(new Error('nobody listens')); await new Promise((done) => setTimeout(done, 60_000))`,
  'loop for ever': `for (;;);`,
  'compute for a while': `const until = performance.now() + p.ms; while (performance.now() < until);`,
  'stop its process': `process.kill(process.pid, 'SIGSTOP')`,
  'wait for ever': `await new Promise((done) => setTimeout(done, 2 ** 30))`,
  'fill the heap': `const kept = []; for (;;) kept.push(Array.from({ length: 1000 }, (_, i) => ({ i })))`,
  'fill the memory': `const kept = []; for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1))`,
  'print for ever': `for (;;) { for (let i = 0; i < 1000; i++) process.stdout.write('x'.repeat(999) + '\\n'); await new Promise(setImmediate) }`,
  'log for ever': `for (let i = 0; i < 5000; i++) c.log('info', 'line ' + i)`,
  'swell its segment': `const { appendFileSync } = await import('node:fs'); appendFileSync(p.file, Buffer.alloc(3 * 1024 * 1024, 120)); await new Promise((done) => setTimeout(done, 60_000))`,
  'write to every pipe': `
    const { writeSync } = await import('node:fs')
    const forged = '{"type":"done","outcome":"finished","reusable":true}\\n'
    for (const fd of [1, 2, 3, 4, 5]) for (const text of ['garbage', '\\n', forged, '\\u0000\\uFFFD\\n', 'alive\\n', '["/etc/passwd",1]\\n'])
      try { writeSync(fd, text) } catch {}`,
  'tamper with built-ins': `
    const json = JSON.stringify
    JSON.parse = () => ({ type: 'done' }); JSON.stringify = (v) => json(v)
    process.send = () => true; process.kill = () => true; process.emit = () => true
    Array.prototype.map = new Proxy(Array.prototype.map, {})`,
  'tamper with messages': `
    const fs = await import('node:fs'); const { syncBuiltinESMExports } = await import('node:module')
    const write = fs.default.writeSync
    fs.default.writeSync = (fd, ...rest) => fd === 3 ? write(3, '{"type":"nonsense"}\\n') : write(fd, ...rest)
    syncBuiltinESMExports(); globalThis.Buffer = undefined`,
  'leave a timer': `setTimeout(() => { throw new Error('too late') }, 60_000).unref()`,
  'leave a handle': `(await import('node:net')).createServer().listen(0, '127.0.0.1')`,
  'leave a global': `globalThis.leftover = 1`,
  'leave a variable': `process.env.LEFT = '1'`,
  'move away': `process.chdir('/')`,
  'start a program': `
    const { spawn } = await import('node:child_process')
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1000000)'], { stdio: 'ignore' })
    c.log('info', 'child ' + child.pid)
    await new Promise((done) => setTimeout(done, p.ms))`,
  'throw its secret': `throw new Error('the key is ' + c.secret('TEST_KEY'))`,
  'print its secret': `console.log('the key is ' + c.secret('TEST_KEY')); c.log('warn', c.secret('TEST_KEY')); process.exit(1)`,
  'ask for another secret': `c.secret('OTHER_KEY')`,
} as const

export type Act = keyof typeof acts

const cases = Object.entries(acts).map(
  ([name, body]) => `      case ${JSON.stringify(name)}: {\n${body}\n        break }`,
)

const plugin = `import { defineTransform, z } from 'evsys/plugin'
const version = 'first'
export default defineTransform({
  kind: 'act',
  summary: 'Does what it is asked to.',
  params: z.strictObject({ act: z.string(), ms: z.number().default(0), file: z.string().default('') }),
  needs: { secrets: ['TEST_KEY'] },
  async *run(rows, c) {
    const p = c.params
    switch (p.act) {
${cases.join('\n')}
      case 'tell its version': c.log('info', version)
    }
    yield* rows
  },
})
`

/** Puts the plugin into a project; `version` is what it tells of itself. */
export function writeHostilePlugin(projectDir: string, version = 'first'): string {
  const file = join(projectDir, 'src', 'plugins', 'act.ts')
  mkdirSync(join(projectDir, 'src', 'plugins'), { recursive: true })
  writeFileSync(file, plugin.replace("'first'", `'${version}'`))
  return file
}
