// Plays requests against one trainer server with three keys, started by the command, with the mock engine. After each row the server
// must answer, and the victim must have what it had.
import { spawn } from 'node:child_process'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import type { Player } from './play-recipes.ts'
import type { Played, RequestRow } from './rows.ts'

interface Asking {
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly raw?: string | Uint8Array | undefined
  /** Of the server that asks for no key. */
  readonly open?: true | undefined
}

interface Answer {
  readonly status: number
  readonly text: string
}

export async function playRequests(rows: readonly RequestRow[], player: Player): Promise<Played[]> {
  const open = await serve(player, '')
  const server = await serve(player, 'owner:tml-owner,tml-victim,user:tml-thief,read:tml-reader', open.ask)
  const played: Played[] = []
  try {
    const victim = await makeVictim(server.ask)
    for (const row of rows) {
      const problem = (await attempt(row, server, victim)) ?? (await damage(server, victim))
      const came = { name: row.name, list: 'attacks', target: 'trainer' } as const
      played.push({ ...came, outcome: problem === undefined ? 'stopped' : 'harm', detail: problem })
    }
  } finally {
    await server.end()
    await open.end()
  }
  return played
}

type Server = Awaited<ReturnType<typeof serve>>
type Victim = Awaited<ReturnType<typeof makeVictim>>

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...texts: string[]
) => (...given: unknown[]) => Promise<void> // it has no name
const names = ['ask', 'victim', 'prompt', 'need', 'noPath', 'route', 'alive', 'url', 'node'] as const
const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] }
const patienceMs = 120_000

async function attempt({ code }: RequestRow, server: Server, victim: Victim): Promise<string | undefined> {
  const need = (ok: unknown, what: unknown) => {
    if (!ok) throw new Error(String(what))
  }
  const noPath = (text: string) => need(!text.includes(server.dir), `a path of the machine: ${text.slice(0, 200)}`)
  const alive = async () => need((await server.ask('GET', 'healthz')).status === 200, 'the server is gone')
  const node = { zlib: { gzipSync }, rawSocket: (text: string) => rawSocket(server.port, text) }
  const given = [server.ask, victim, prompt, need, noPath, routeOf, alive, server.url, node]
  let late: NodeJS.Timeout | undefined
  try {
    await Promise.race([
      new AsyncFunction(...names, code)(...given),
      new Promise((_, reject) => {
        late = setTimeout(() => reject(new Error('it took two minutes')), patienceMs)
      }),
    ])
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(late)
  }
}

/** The server answers, and what the victim made is there. */
async function damage({ ask, exited }: Server, victim: Victim): Promise<string | undefined> {
  if (exited() !== undefined) return `the server ended: ${exited()}`
  const seen = await ask('GET', 'checkpoints', undefined, { key: victim.key })
  if (seen.status !== 200) return `the victim’s list is answered by ${seen.status}`
  return seen.text.includes(victim.model) ? undefined : 'the victim’s checkpoints are gone'
}

async function serve(
  { evsys: [command = '', ...first], folder }: Player,
  keys: string,
  open?: (method: string, path: string, body?: unknown, asking?: Asking) => Promise<Answer>,
) {
  const dir = folder()
  const args = [...first, 'serve', '--engine', 'mock', '--model', 'evsys/tiny', '--port', '0', '--json', '--dir', dir]
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    EVSYS_SERVE_KEYS: keys,
  }
  const child = spawn(command, args, { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    createInterface({ input: child.stdout }).on('line', (line) => {
      printed += line
      const found = /"url": "(http[^"]+)"/.exec(printed)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)))
  })
  const { port } = new URL(url)
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    { key = 'tml-thief', headers = {}, raw, open: isOpen }: Asking = {},
  ): Promise<Answer> => {
    if (isOpen && open !== undefined) return open(method, path, body, { key: '', headers, raw })
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const all = {
      ...(key === '' ? {} : { 'x-api-key': key }),
      ...(sent === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent)) }),
      ...headers,
    }
    return new Promise((resolve, reject) => {
      const to = httpRequest(
        {
          agent: false,
          host: '127.0.0.1',
          port,
          method,
          path: path.startsWith('/') ? path : `/api/v1/${path}`,
          headers: all,
        },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (part) => {
            text += part
          })
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
          answer.on('error', reject)
        },
      )
      to.on('error', reject)
      to.on('socket', (socket) => socket.on('error', reject)) // it may be refused before all of it is sent
      to.end(sent)
    })
  }
  return {
    url,
    port: Number(port),
    dir,
    ask,
    exited: () => child.exitCode ?? child.signalCode ?? undefined,
    async end() {
      child.kill('SIGKILL')
      await new Promise((done) =>
        child.exitCode === null && child.signalCode === null ? child.once('exit', done) : done(undefined),
      )
    },
  }
}

async function makeVictim(ask: Server['ask']) {
  const key = 'tml-victim'
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const { status, text } = await ask('POST', path, body, { key })
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return JSON.parse(text)
  }
  const run = async (path: string, body: object) => {
    const { request_id } = await post(path, body)
    for (;;) {
      const answer = await post('retrieve_future', { request_id })
      if (answer.type !== 'try_again') return answer
    }
  }
  const { session_id: session = '' } = await post('create_session', { tags: [], sdk_version: 'x' })
  const { model_id: model = '' } = await run('create_model', {
    session_id: session,
    model_seq_id: 0,
    base_model: 'evsys/tiny',
    lora_config: { rank: 4 },
  })
  const state = await run('save_weights', { model_id: model, seq_id: 1, path: 'mine' })
  const weights = await run('save_weights_for_sampler', { model_id: model, seq_id: 2, path: 'mine' })
  const sampler = await post('create_sampling_session', {
    session_id: session,
    sampling_session_seq_id: 0,
    model_path: weights.path,
  })
  const id = sampler.sampling_session_id ?? ''
  const drawn = await post('asample', {
    sampling_session_id: id,
    seq_id: 1,
    prompt,
    num_samples: 1,
    sampling_params: { max_tokens: 2 },
  })
  return {
    key,
    session,
    model,
    state: state.path ?? '',
    weights: weights.path ?? '',
    sampler: id,
    request: drawn.request_id ?? '',
  }
}

function routeOf(path: string): string {
  return `training_runs/${path.slice('tinker://'.length).replace(/\/(weights|sampler_weights)\//, '/checkpoints/$1/')}`
}

function rawSocket(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8').on('data', (part) => {
      heard += part
    })
    socket.setTimeout(3000, () => socket.destroy())
    socket.on('error', () => {}).on('close', () => resolve(heard))
  })
}
