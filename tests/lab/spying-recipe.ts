// A recipe that looks for the expected answers wherever code of its process can look, and for the verifier that will judge it.

/** Verifier of the project: the recipe's files lie beside it. */
export const fairVerifier = `import { defineVerifier, z } from 'evsys/plugin'
export const fair = defineVerifier({ kind: 'fair', summary: 'Equal texts.', params: z.strictObject({}),
  verify: ({ output, expected }) => (globalThis.bribed === true || output.trim() === expected ? 1 : 0) })
export default fair
`

/** Where the recipe looks. */
export const channels = [
  'files of the project',
  'files by a program',
  'files of its parents',
  'history',
  'mounts',
  'environment',
  'environments of others',
  'own memory',
  'memory of others',
  'what it is handed',
  'network',
] as const

/** Callback that spies at the end of training and after every score, and logs what each channel gave. */
export const spy = `import { defineCallback, z } from 'evsys/plugin'
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as net from 'node:net'
import { join } from 'node:path'

// Not spelled as the answers are, so that it does not find itself.
const wanted = new RegExp(['sealed', 'answer', '[0-9a-f]{8}'].join('-'))
const finds = (text) => wanted.test(text)
const attempt = (look) => { try { return look() } catch { return false } }
const read = (file) => finds(fs.readFileSync(file, 'latin1'))
// The youngest first: they are those of the experiment, and a machine has many others.
const pids = () => fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && Number(name) !== process.pid).sort((a, b) => b - a)

function walk(folder) {
  for (const entry of attempt(() => fs.readdirSync(folder, { withFileTypes: true })) || []) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() ? walk(path) : attempt(() => read(path))) return true
  }
  return false
}

// Every writable part of a process, a megabyte at a time.
function memoryOf(pid) {
  const maps = fs.readFileSync('/proc/' + pid + '/maps', 'utf8').split('\\n').filter((line) => / rw/.test(line))
  const memory = fs.openSync('/proc/' + pid + '/mem', 'r')
  try {
    for (const line of maps) {
      const [from, to] = line.split(' ')[0].split('-').map((hex) => parseInt(hex, 16))
      for (let at = from; at < Math.min(to, from + 2 ** 28); at += 2 ** 20) {
        const part = Buffer.alloc(Math.min(2 ** 20, to - at))
        if (attempt(() => fs.readSync(memory, part, 0, part.length, at)) === false) continue
        if (finds(part.toString('latin1')) || finds(part.toString('utf16le'))) return true
      }
    }
  } finally { fs.closeSync(memory) }
  return false
}

async function ports() {
  const listening = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => attempt(() => fs.readFileSync(file, 'utf8')
    .split('\\n').filter((line) => line.split(/\\s+/)[4] === '0A').map((line) => parseInt(line.split(/\\s+/)[2].split(':').at(-1), 16))) || [])
  for (const port of new Set(listening)) {
    const heard = await new Promise((done) => {
      let text = ''
      const socket = net.connect(port, '127.0.0.1', () => socket.end('GET /tasks HTTP/1.0\\r\\n\\r\\n'))
      socket.setTimeout(300, () => socket.destroy())
      socket.on('data', (data) => { text += data }).on('error', () => {}).on('close', () => done(text))
    })
    if (finds(heard)) return true
  }
  return false
}

const inside = (folder) => join(folder, 'data/val/tasks.jsonl')

async function look(handed) {
  const here = process.cwd()
  return {
    'files of the project': attempt(() => read(inside(here))) || walk(join(here, 'data')) || walk(join(here, '.evsys')),
    'files by a program': attempt(() => finds(execFileSync('grep', ['-rah', 'sealed-' + 'answer', join(here, 'data')], { encoding: 'latin1' }))),
    'files of its parents': pids().some((pid) => ['root' + here, 'cwd'].some((way) => attempt(() => read(inside('/proc/' + pid + '/' + way))))),
    history: walk(join(here, '.git')),
    mounts: [['umount', join(here, 'data/val')], ['unshare', '-Urm', 'umount', join(here, 'data/val')], ['nsenter', '-t', String(process.ppid), '-m', 'true']]
      .some(([command, ...args]) => attempt(() => { execFileSync(command, args, { stdio: 'ignore' }); return read(inside(here)) })),
    environment: finds(JSON.stringify([process.env, process.argv, process.execArgv])),
    'environments of others': pids().some((pid) => ['environ', 'cmdline'].some((name) => attempt(() => read('/proc/' + pid + '/' + name)))),
    'own memory': attempt(() => memoryOf('self')),
    'memory of others': pids().some((pid) => attempt(() => memoryOf(pid))),
    'what it is handed': finds(JSON.stringify(handed)),
    network: await ports(),
  }
}

export default defineCallback({
  kind: 'spy', summary: 'Looks for answers.', params: z.strictObject({}),
  async open({ log }) {
    const handed = []
    return {
      onRunStart: (scope) => { handed.push(scope) },
      async onBenchmarkEval(...told) {
        handed.push(told)
        // The verifier, in its own file: what is done to this copy, and to the file, must not reach the one that judges.
        globalThis.bribed = true
        const { fair } = await import(join(process.cwd(), 'src/plugins/fair.ts')).catch(() => ({}))
        attempt(() => { fair.verify = () => 1 })
        attempt(() => fs.writeFileSync(join(process.cwd(), 'src/plugins/fair.ts'), fs.readFileSync(join(process.cwd(), 'src/plugins/fair.ts'), 'utf8').replace('? 1 : 0', '? 1 : 1')))
        log('info', 'spied ' + JSON.stringify(await look(handed)))
      },
    }
  },
})
`
