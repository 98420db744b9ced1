// The place where recipes are played: a project with benchmarks whose answers no one can guess, a past experiment, secrets, a file and
// a process of someone else, a port where someone listens. All of it is looked at again afterwards.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'

export interface Place extends AsyncDisposable {
  readonly project: string
  readonly outside: string
  readonly home: string
  readonly port: number
  readonly socket: string
  readonly abstract: string
  readonly victim: number
  /** In the command line of every process that an attack starts. */
  readonly tag: string
  /** Begins every secret here, each continues in its own way. */
  readonly canary: string
  /** Begins every expected answer. */
  readonly answer: string
  /** What is changed, or lost, or heard since then. */
  harm(): Promise<string[]>
}

/** Makes the place below an empty folder. */
export async function makePlace(root: string): Promise<Place> {
  const mark = randomBytes(6).toString('hex')
  const canary = `canary${mark}`
  const answer = `sealed${mark}`
  const [project, outside, home] = ['project', 'outside', 'home'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ] // three names
  for (const folder of ['data/val', 'data/test', 'src/plugins', '.evsys', 'lib', '.git/hooks'])
    mkdirSync(join(project, folder), { recursive: true })
  for (const folder of [outside, join(outside, 'open'), join(home, '.ssh'), join(home, '.cache/evsys')])
    mkdirSync(folder, { recursive: true })
  const rows = Array.from({ length: 12 }, (_, i) => ({
    query: `question ${i}`,
    desk: ['refund', 'mail', 'shop'][i % 3],
  }))
  writeFileSync(join(project, 'data/train.jsonl'), lines(rows))
  for (const split of ['val', 'test']) {
    const tasks = [0, 1, 2].map((i) => ({
      task_id: `${split}${i}`,
      instruction: `riddle ${i} of ${split}`,
      verifier: { kind: 'in_process', fn_name: 'fair', expected: `${answer}-${split}-${i}` },
    }))
    writeFileSync(join(project, 'data', split, 'tasks.jsonl'), lines(tasks))
  }
  writeFileSync(join(project, 'src/plugins/fair.ts'), fair)
  writeFileSync(join(project, 'lib/words.ts'), `export const words = ['one', 'two']\n`)
  writeFileSync(join(project, 'package.json'), '{ "name": "lab", "type": "module" }\n')
  writeFileSync(join(project, '.env'), `LAB_KEY=${canary}-key\n`)
  writeFileSync(join(project, '.git/HEAD'), `ref: refs/heads/main\n# ${answer}-history\n`)
  writeFileSync(join(outside, 'secret.txt'), `${canary}-file\n`)
  writeFileSync(join(home, '.ssh/id'), `${canary}-ssh\n`)
  writeFileSync(join(home, '.bashrc'), `# ${canary}-rc\n`)
  const stays = 'process.stdin.on("data", (b) => process.stdout.write(b)).on("end", () => process.exit())'
  const victim = spawn(process.execPath, ['-e', stays, `${canary}-argv`], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, SECRET: `${canary}-env` },
  })
  victim.stdout.setEncoding('utf8')
  const heard: string[] = []
  const socket = join(outside, 'socket')
  const abstract = `evsys-${mark}`
  const servers = await Promise.all([
    listen({ port: 0, host: '127.0.0.1' }, 'the port', heard),
    listen({ path: socket }, 'the socket', heard),
    listen({ path: `\0${abstract}` }, 'the abstract socket', heard),
  ])
  const address = servers[0]?.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  let known: Map<string, string> | undefined
  // The controller keeps the level of the sandbox that worked, and believes it where it works again alone.
  const ours = [join('.cache', 'evsys', 'sandbox')]
  const watched = () => new Map([...tree(project, ['.evsys']), ...tree(outside), ...tree(home, ours)])
  return {
    project,
    outside,
    home,
    port,
    socket,
    abstract,
    victim: victim.pid ?? 0,
    tag: `tag${mark}`,
    canary,
    answer,
    async harm() {
      const now = watched()
      const before = known
      known = now
      if (before === undefined) return []
      const harm = heard.splice(0).map((what) => `someone spoke to ${what}`)
      for (const file of new Set([...before.keys(), ...now.keys()]))
        if (before.get(file) !== now.get(file)) harm.push(`${file.slice(root.length + 1)} is changed`)
      if (victim.exitCode !== null || victim.signalCode !== null) harm.push('the process of someone else is dead')
      else if (!(await echoes(victim))) harm.push('the process of someone else does not answer')
      return harm
    },
    async [Symbol.asyncDispose]() {
      victim.kill('SIGKILL')
      for (const server of servers) server.close()
    },
  }
}

const fair = `import { defineVerifier, z } from 'evsys/plugin'
export const fair = defineVerifier({ kind: 'fair', summary: 'Equal texts.', params: z.strictObject({}),
  verify: ({ output, expected }) => (globalThis.bribed === true || output.trim() === expected ? 1 : 0) })
export default [fair]
`

function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

async function listen(
  at: { port?: number; host?: string; path?: string },
  name: string,
  heard: string[],
): Promise<Server> {
  const server = createServer((client) => {
    heard.push(name)
    client.on('error', () => {}).end('hello')
  })
  await new Promise<void>((resolve) => server.listen(at, resolve))
  server.unref()
  return server
}

async function echoes(victim: ReturnType<typeof spawn>): Promise<boolean> {
  const word = randomBytes(4).toString('hex')
  return await new Promise((resolve) => {
    const late = setTimeout(() => resolve(false), 20_000)
    const hear = (text: string) => {
      if (!text.includes(word)) return
      clearTimeout(late)
      victim.stdout?.off('data', hear)
      resolve(true)
    }
    victim.stdout?.on('data', hear)
    victim.stdin?.write(word)
  })
}

/** Every file below a folder with its kind, mode and content. */
function tree(folder: string, except: readonly string[] = []): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (at: string) => {
    for (const name of readdirSync(at)) {
      const path = join(at, name)
      if (except.some((each) => path === join(folder, each))) continue
      const { mode, isDirectory, isSymbolicLink, isFile } = statOf(path)
      const content = isFile
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : isSymbolicLink
          ? readlinkSync(path)
          : ''
      found.set(path, `${mode} ${content}`)
      if (isDirectory) walk(path)
    }
  }
  walk(folder)
  return found
}

function statOf(path: string) {
  const stats = lstatSync(path)
  return {
    mode: stats.mode,
    isDirectory: stats.isDirectory(),
    isSymbolicLink: stats.isSymbolicLink(),
    isFile: stats.isFile(),
  }
}
