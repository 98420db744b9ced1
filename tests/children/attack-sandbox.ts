// Attacks a sandbox: `attack-sandbox FOLDER LEVEL UID REPEATS EVERY [WORD]`, where EVERY is 1 for all attacks, 3 for a third, and WORD stands in the name of those that are wanted. Prints a JSON line per attack: its name and the harm, if any.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Level } from '../../src/contracts/index.ts'
import { isAlive, mapConcurrent } from '../../src/kernel/index.ts'
import { openSandbox } from '../../src/sandbox/index.ts'
import { attacks, type World } from '../sandbox/attacks.ts'

const [folder = '', levelName = '', uid = '', repeats = '', every = '', word = ''] = process.argv.slice(2)
const level = Level.parse(levelName)
if (process.getuid?.() === 0 && Number(uid) !== 0) {
  chownSync(folder, Number(uid), Number(uid))
  process.setgroups?.([])
  process.setgid?.(Number(uid))
  process.setuid?.(Number(uid))
}

const canary = `canary${process.pid}x${Math.trunc(performance.now() * 1000)}`
process.env.EVSYS_CANARY = canary
const fileName = `secret-${process.pid}`
const secretFile = join(folder, fileName)
writeFileSync(secretFile, canary, { mode: 0o644 })
// It ends with us, however that comes about.
const staysUp = 'process.stdin.on("end", () => process.exit()).resume()'
const victim = spawn(process.execPath, ['-e', staysUp, canary], { stdio: ['pipe', 'ignore', 'ignore'] })
const server = createServer().listen(0, '127.0.0.1')
const socketName = `evsys-${canary.replace('canary', 'socket')}`
const abstract = createServer().listen(`\0${socketName}`)
await Promise.all([once(server, 'listening'), once(abstract, 'listening')])
const address = server.address()
const port = typeof address === 'object' && address !== null ? address.port : 0

const limits = { timeoutMs: 10_000, memoryBytes: 256 << 20, outputBytes: 200_000, processes: 32, diskBytes: 64 << 20 }
const patience = AbortSignal.timeout(600_000)

// An honest command in a sandbox of its own answers all the time.
const siblingFolder = join(folder, 'sibling')
await using honest = await openSandbox({ stateDir: siblingFolder, level })
await honest.exec({ argv: ['/bin/sh', '-c', `echo ${canary} > /note`], limits }, patience)
await using echo = await honest.spawn({ argv: ['/bin/cat'], limits: { ...limits, timeoutMs: 600_000 } }, patience)
const answers = echo.output[Symbol.asyncIterator]()
let asked = 0
async function isSiblingWell(): Promise<boolean> {
  asked += 1
  const line = `line ${asked}\n`
  await echo.write(line)
  let heard = ''
  while (heard.length < line.length) {
    const { value, done } = await answers.next()
    if (done === true) return false
    heard += value.text
  }
  return heard === line
}

async function attempt(name: string, n: number): Promise<string | undefined> {
  const attack = attacks.find((each) => each.name === name)
  if (attack === undefined) return 'no such attack'
  const place = join(folder, `attack-${n}`)
  const [app, readOnly] = [join(place, 'app'), join(place, 'ro')]
  for (const each of [app, readOnly]) mkdirSync(each, { recursive: true })
  writeFileSync(join(readOnly, 'note'), 'kept')
  const tag = `tag-${process.pid}-${n}`
  const world: World = {
    level,
    canary,
    fileName,
    secretFile,
    siblingFolder,
    app,
    readOnly,
    port,
    socketName,
    tag,
    victim: victim.pid ?? 0,
  }
  const mounts = [
    { source: app, target: '/app', writable: true },
    { source: readOnly, target: '/ro' },
    { source: readOnly, target: '/deep/inside' },
  ]
  await using sandbox = await openSandbox({ stateDir: join(place, 'state'), mounts, level })
  const argv = ['/bin/sh', '-c', attack.script(world)]
  const spec = { argv, env: { EVSYS_LEVEL: level }, limits: { ...limits, ...attack.limits } }
  const result = await sandbox.exec(spec, patience)
  const said = `${result.stdout}${result.stderr}`
  const seen = said.includes('HARM') ? said.slice(0, 300) : said.includes(canary) ? 'it saw the canary' : undefined
  const harm = seen ?? attack.after?.(result, world)
  rmSync(place, { recursive: true, force: true, maxRetries: 2 })
  return harm
}

const chosen = attacks.map(({ name }) => name).filter((name, i) => i % Number(every) === 0 && name.includes(word))
const names = Array.from({ length: Number(repeats) }, () => chosen).flat()
let turn = Promise.resolve(true)
await mapConcurrent(names, { limit: 3, signal: patience }, async (name, n) => {
  let harm = await attempt(name, n).catch((cause: unknown) => `failed: ${String(cause)}`)
  turn = turn.then(isSiblingWell)
  if (!(await turn)) harm ??= 'the sibling does not answer'
  if (!isAlive({ pid: victim.pid ?? 0, start: '' })) harm ??= 'the process of the host is dead'
  process.stdout.write(`${JSON.stringify({ name, ...(harm === undefined ? {} : { harm }) })}\n`)
})
const note = await honest.exec({ argv: ['/bin/cat', '/note'], limits }, patience)
process.stdout.write(
  `${JSON.stringify({ name: 'the sibling keeps its file', ...(note.stdout === `${canary}\n` ? {} : { harm: note.stdout }) })}\n`,
)
victim.kill('SIGKILL')
server.close()
abstract.close()
