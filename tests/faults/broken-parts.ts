// Makes the rows of the table happen: real servers, processes, files and plugins that are broken in one way each.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { mockCatalog, mockVocabSize } from '../../src/backends/models/mock-models.ts'
import { createMockEngine } from '../../src/engine/mock/mock-engine.ts'
import { createTrainer } from '../../src/trainer/index.ts'
import { evsysBin } from '../cli/run-process.ts'
import { startJudgeServer } from '../judge-server.ts'
import { onPrivateTmpfs } from '../private-tmpfs.ts'

/** A project of one experiment with one run of two steps, and what is to be closed after it. */
export interface Place {
  readonly dir: string
  defer(close: () => Promise<unknown> | unknown): void
}

/** Arguments of the command, which gets `--json` too. */
type Break = (place: Place) => Promise<readonly string[]> | readonly string[]

const tinker = { backend: { kind: 'tinker' }, algorithm: { kind: 'sft', params: { max_steps: 20, lora_rank: 4 } } }
const onTrainer = (kind: 'absent' | 'silent' | 'page') => async (place: Place) => {
  writeProject(place.dir, { run: tinker })
  return runAt(place, await brokenServer(kind, place))
}
const api = (kind: Parameters<typeof brokenServer>[0], path: string) => async (place: Place) => {
  writeProject(place.dir, {})
  const url = `${await brokenServer(kind, place)}${path}`
  return ['eval', `{ kind: openai_compatible, base_url: "${url}", model: m }`, ...onVal]
}
const judged = (kind: Parameters<typeof brokenServer>[0]) => async (place: Place) =>
  judgedBy(place, `${await brokenServer(kind, place)}/v1`)
const beside = (kind: 'absent' | 'silent') => async (place: Place) => {
  const base_url = `${await brokenServer(kind, place)}/v1`
  writeProject(place.dir, { benchmark: { models: [{ kind: 'openai_compatible', base_url, model: 'm' }] } })
  return runFile
}
const agent = (body: string) => (place: Place) => {
  const text = `import { defineAgent } from 'evsys/plugin'
export default defineAgent({ kind: 'broken', summary: 'Broken.', async run() { ${body} } })\n`
  return writeProject(place.dir, { run: { agent: { kind: 'broken' } }, plugins: { 'broken.ts': text } })
}
const verifier = (body: string) => (place: Place) => {
  const text = `import { defineVerifier } from 'evsys/plugin'
export default defineVerifier({ kind: 'broken', summary: 'Broken.', async verify() { ${body} } })\n`
  writeProject(place.dir, { plugins: { 'broken.ts': text }, verifier: { fn_name: 'broken', expected: 'yes' } })
  return ofAnswers
}
const pythonAgent =
  (body: string, module = 'broken') =>
  (place: Place) => {
    const lib = join(place.dir, 'lib')
    mkdirSync(lib, { recursive: true })
    writeFileSync(
      join(lib, 'broken.py'),
      `import os, sys, time
from harbor.agents.base import BaseAgent

class Broken(BaseAgent):
    @staticmethod
    def name(): return "broken"
    def version(self): return "1"
    async def setup(self, environment): pass
    async def run(self, instruction, environment, context):
        ${body}
`,
    )
    const params = { import_path: `${module}:Broken`, path: [lib] }
    return writeProject(place.dir, { run: { agent: { kind: 'python', params } } })
  }
const interpreter = (script: string | undefined) => (place: Place) => {
  const python = script === undefined ? 'no-such-python' : join(place.dir, 'python')
  if (script !== undefined) writeScript(python, script)
  return writeProject(place.dir, { run: { agent: { kind: 'python', params: { import_path: 'a:A', python } } } })
}
const program = (command: readonly string[]) => (place: Place) =>
  writeProject(place.dir, { run: { agent: { kind: 'cli', params: { command, run_on: 'host' } } } })
const plugin = (text: string) => (place: Place) => writeProject(place.dir, { plugins: { 'broken.ts': text } })
const rows = (text: string | Uint8Array) => (place: Place) => {
  const args = writeProject(place.dir, {})
  writeFileSync(join(place.dir, 'train.jsonl'), text)
  return args
}

/** A program that never ends, known by its text. */
export const idle = `setInterval(() => {}, 1000) // ${process.pid}`

/** By the name of the row. */
export const breaks: Readonly<Record<string, Break>> = {
  'trainer, absent': onTrainer('absent'),
  'trainer, slow': onTrainer('silent'),
  'trainer, dies': async (place) => {
    writeProject(place.dir, { run: tinker })
    return runAt(place, await trainerThatBreaks(place))
  },
  'trainer, nonsense': onTrainer('page'),
  'judge, absent': judged('absent'),
  'judge, slow': judged('silent'),
  'judge, dies': judged('cut'),
  'judge, nonsense': async (place) => {
    const judge = await startJudgeServer(() => 'It depends.')
    place.defer(() => judge[Symbol.asyncDispose]())
    return judgedBy(place, judge.url)
  },
  'model behind an API, absent': api('absent', '/v1'),
  'model behind an API, slow': api('silent', '/v1'),
  'model behind an API, dies': api('cut', '/v1'),
  'model behind an API, nonsense': api('page', '/v1'),
  'model beside the arms, absent': beside('absent'),
  'model beside the arms, slow': beside('silent'),
  'agent in TypeScript, absent': ({ dir }) => writeProject(dir, { run: { agent: { kind: 'lost' } } }),
  'agent in TypeScript, slow': agent('await new Promise(() => {})'),
  'agent in TypeScript, dies': agent('process.exit(3)'),
  'agent in TypeScript, nonsense': agent('return 42'),
  'agent in Python, absent': pythonAgent('pass', 'lost'),
  'agent in Python, slow': pythonAgent('time.sleep(1000)'),
  'agent in Python, dies': pythonAgent('os._exit(3)'),
  'agent in Python, nonsense': pythonAgent(`os.write(1, b"hello\\n"); os.write(3, b"hello\\n")`),
  'agent that is a program, absent': program(['no-such-program']),
  'agent that is a program, slow': program([process.execPath, '-e', idle]),
  'agent that is a program, dies': program(['sh', '-c', 'kill -9 $$']),
  'agent that is a program, nonsense': program(['sh', '-c', 'printf "\\377\\376"; exit 3']),
  'Python interpreter, absent': interpreter(undefined),
  'Python interpreter, slow': interpreter(`exec '${process.execPath}' -e '${idle}'`),
  'Python interpreter, dies': interpreter('exit 3'),
  'Python interpreter, nonsense': interpreter('echo Hello from another program'),
  'plugin file, absent': ({ dir }) => writeProject(dir, { file: { plugins: ['./lost.ts'] } }),
  'plugin file, slow': plugin('await new Promise(() => setInterval(() => {}, 1000))\nexport default []\n'),
  'plugin file, dies': plugin('process.exit(3)\n'),
  'plugin file, nonsense': plugin('export default 42\n'),
  'verifier, absent': ({ dir }) => {
    writeProject(dir, { verifier: { fn_name: 'lost', expected: 'yes' } })
    return ofAnswers
  },
  'verifier, slow': verifier('await new Promise(() => {}); return 1'),
  'verifier, dies': verifier('process.exit(3); return 1'),
  'verifier, nonsense': verifier('return NaN'),
  'data file, absent': ({ dir }) => {
    const args = writeProject(dir, {})
    rmSync(join(dir, 'train.jsonl'))
    return args
  },
  'data file, slow': ({ dir }) => {
    const args = writeProject(dir, {})
    rmSync(join(dir, 'train.jsonl'))
    execFileSync('mkfifo', [join(dir, 'train.jsonl')])
    return args
  },
  'data file, dies': rows(`${JSON.stringify(row('a'))}\n{"messages": [{"role": "us`),
  'data file, nonsense': rows(Uint8Array.of(0xff, 0xfe, 0x00, 0x0a, 0x80)),
  'disk, absent': ({ dir }) => {
    writeFileSync(join(dir, 'taken'), '')
    return writeProject(dir, { file: { output_dir: 'taken/out' } })
  },
  'disk, dies': ({ dir }) => {
    mkdirSync(join(dir, 'disk'))
    const algorithm = { kind: 'sft', params: { max_steps: 8, batch_size: 1, save_every: 1 } }
    return writeProject(dir, { file: { output_dir: 'disk/out' }, run: { algorithm } })
  },
  'record, absent': ({ dir }) => {
    const args = writeProject(dir, {})
    rmSync(join(dir, '.evsys'), { recursive: true })
    writeFileSync(join(dir, '.evsys'), '')
    return args
  },
  'record, slow': async (place) => {
    const args = writeProject(place.dir, {})
    const { openStore } = await import('../../src/store/index.ts')
    const file = join(place.dir, '.evsys', 'evsys.db')
    await (await openStore(file))[Symbol.asyncDispose]()
    const { loadDriver } = await import('../../src/store/sqlite/open-database.ts')
    const database = new (await loadDriver())(file)
    database.exec('begin immediate')
    place.defer(() => database.close())
    return args
  },
  'record, nonsense': ({ dir }) => {
    const args = writeProject(dir, {})
    writeFileSync(
      join(dir, '.evsys', 'evsys.db'),
      'This is no database, and longer than the header of one. '.repeat(20),
    )
    return args
  },
}

/** How evsys is started to meet the fault, by the name of the row, where that takes more than its arguments. */
export const under: Readonly<Record<string, (dir: string) => readonly string[]>> = {
  'disk, dies': (dir) => [...onPrivateTmpfs(join(dir, 'disk'), '64k'), process.execPath, evsysBin],
}

const runFile = ['run', 'config.yaml']
const onVal = ['--benchmark', 'val', '--metric', 'pass@1']
const ofAnswers = ['eval', 'answers.csv', ...onVal]

interface Project {
  /** Laid over the run. */
  readonly run?: object | undefined
  readonly benchmark?: object | undefined
  readonly file?: object | undefined
  readonly plugins?: Readonly<Record<string, string>> | undefined
  readonly verifier?: object | undefined
}

export function writeProject(
  dir: string,
  { run, benchmark, file, plugins = {}, verifier = plain }: Project,
): readonly string[] {
  for (const folder of ['.evsys', 'val', 'src/plugins']) mkdirSync(join(dir, folder), { recursive: true })
  writeFileSync(join(dir, 'train.jsonl'), `${JSON.stringify(row('Is it red?'))}\n`)
  const task = { task_id: 'a', instruction: 'Was it red?', verifier: { kind: 'in_process', ...verifier } }
  writeFileSync(join(dir, 'val', 'tasks.jsonl'), `${JSON.stringify(task)}\n`)
  writeFileSync(join(dir, 'answers.csv'), 'task_id,answer\na,yes\n')
  for (const [name, text] of Object.entries(plugins)) writeFileSync(join(dir, 'src/plugins', name), text)
  const experiment = {
    name: 'faulty',
    metadata: {
      objective: { metric: 'val.pass@1' },
      benchmark: [{ name: 'val', path: 'val', metrics: ['pass@1'], max_tokens: 4, ...benchmark }],
    },
    run: {
      data: { path: 'train.jsonl' },
      model: { name: 'mock' },
      algorithm: { kind: 'sft', params: { max_steps: 2, batch_size: 1 } },
      backend: { kind: 'mock' },
      ...run,
    },
    ...file,
  }
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify(experiment, null, 2)) // JSON is YAML
  return runFile
}

const plain = { fn_name: 'exact_match', expected: 'yes' }

function row(question: string) {
  return {
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: 'yes' },
    ],
  }
}

function judgedBy({ dir }: Place, base_url: string): readonly string[] {
  const model = { kind: 'openai_compatible', params: { model: 'judge', base_url, api_key: 'none' } }
  writeProject(dir, { verifier: { fn_name: 'llm_judge', expected: '', params: { rubric: 'Polite.', model } } })
  return ofAnswers
}

function runAt({ dir }: Place, url: string): readonly string[] {
  writeFileSync(join(dir, '.env'), `TINKER_API_KEY=tml-of-the-user\nTINKER_BASE_URL=${url}\n`)
  return runFile
}

function writeScript(file: string, text: string): void {
  writeFileSync(file, `#!/bin/sh\n${text}\n`)
  chmodSync(file, 0o755)
}

/** Its address. `absent`: nothing listens there; `silent`: never answers; `cut`: answers break off; `page`: a web page. */
async function brokenServer(kind: 'absent' | 'silent' | 'cut' | 'page', place: Place): Promise<string> {
  if (kind === 'page') {
    return await listening(
      createServer((request, response) => {
        request.resume()
        response.setHeader('content-type', 'text/html')
        response.end('<html>Welcome</html>')
      }),
      place,
    )
  }
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    if (kind === 'cut') socket.once('data', () => socket.end(`${halfAnswer}`))
  })
  const url = await listening(server, place)
  if (kind === 'absent') await new Promise((resolve) => server.close(resolve))
  return url
}

const halfAnswer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"id":'

/** A trainer whose connections break from its second pass on. */
async function trainerThatBreaks(place: Place): Promise<string> {
  const engine = createMockEngine({ vocabSize: mockVocabSize })
  const trainer = await createTrainer({ dir: join(place.dir, 'trainer'), engine, models: mockCatalog(['evsys/tiny']) })
  const answer = getRequestListener((request) => trainer.fetch(request), { overrideGlobalObjects: false })
  let passes = 0
  const listener: RequestListener = (request, response) => {
    if (request.url?.endsWith('/forward_backward') === true) passes += 1
    if (passes < 2) return void answer(request, response)
    response.destroy()
  }
  const url = await listening(createServer(listener), place)
  place.defer(async () => {
    await trainer[Symbol.asyncDispose]()
    await engine[Symbol.asyncDispose]()
  })
  return url
}

async function listening(server: Server, place: Place): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  place.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${port}`
}
