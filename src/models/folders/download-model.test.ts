import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { systemClock } from '../../kernel/index.ts'
import { openTokenizer } from '../tokenizer/open-tokenizer.ts'
import { downloadModel } from './download-model.ts'
import { resolveModelFolder } from './resolve-model-folder.ts'

const folder = temporaryFolders()
const commit = 'c'.repeat(40)
const name = 'acme/small'
const nano = fileURLToPath(new URL('../../../models/nano/', import.meta.url))
const impatient = { ...systemClock, sleep: async () => {} }

type File = { path: string; bytes: Buffer; isLarge?: boolean | undefined }
type Break = (url: string, attempt: number) => ((response: ServerResponse) => void) | undefined

const files: File[] = [
  ...['config.json', 'tokenizer.json', 'tokenizer_config.json'].map((path) => ({
    path,
    bytes: readFileSync(nano + path),
  })),
  { path: 'model.safetensors', bytes: Buffer.alloc(300_000, 'weights'), isLarge: true },
  { path: 'pytorch_model.bin', bytes: Buffer.from('other form') },
  { path: 'onnx/model.json', bytes: Buffer.from('other form') },
]

const closing: (() => void)[] = []
afterAll(() => {
  for (const close of closing) close()
})

/** A server with the hub's routes, and what was asked of it. */
async function startHub({
  spoil = () => undefined,
  listed = files,
}: {
  spoil?: Break | undefined
  listed?: File[] | undefined
} = {}) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '')
    asked.push(url)
    const broken = spoil(url, asked.filter((each) => each === url).length)
    if (broken !== undefined) broken(response)
    else answer(url, request, response, listed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // listening on TCP
  return { asked, env: { HF_ENDPOINT: `http://127.0.0.1:${port}`, HF_HOME: folder() } }
}

function answer(url: string, request: IncomingMessage, response: ServerResponse, listed: File[]): void {
  const json = (value: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
  if (url.startsWith(`/api/models/${name}/revision/main`) || url.startsWith(`/api/models/${name}/revision/${commit}`)) {
    json({ _id: '1', id: name, sha: commit })
  } else if (url.startsWith(`/api/models/${name}/tree/${commit}`)) {
    json(listed.map(({ path, bytes, isLarge }) => entry(path, bytes, isLarge === true)))
  } else {
    const file = listed.find(({ path }) => url === `/${name}/resolve/${commit}/${path}`)
    if (file === undefined) response.writeHead(404).end('nothing')
    else sendFile(file.bytes, request, response)
  }
}

function entry(path: string, bytes: Buffer, isLarge: boolean) {
  const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  const lfs = { oid: createHash('sha256').update(bytes).digest('hex'), size: bytes.length, pointerSize: 130 }
  return { type: 'file', path, size: bytes.length, oid, ...(isLarge ? { lfs } : {}) }
}

function sendFile(bytes: Buffer, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('etag', '"x"')
  if (request.headers.range === 'bytes=0-0') {
    response.writeHead(206, { 'content-range': `bytes 0-0/${bytes.length}` }).end(bytes.subarray(0, 1))
  } else response.end(bytes)
}

describe('downloadModel', () => {
  it('fetches a model once into the shared cache, without other forms of its weights (MOD-22)', async () => {
    const { env, asked } = await startHub()
    const told: string[] = []
    const model = await downloadModel(name, { env, onFile: ({ path }) => told.push(path) })
    expect(model).toEqual(await resolveModelFolder(name, { env, project: folder() }))
    expect(readdirSync(model.folder).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    expect(told).toHaveLength(4)
    for (const { path, bytes } of files.slice(0, 4))
      expect(readFileSync(join(model.folder, path)).equals(bytes)).toBe(true)
    expect(lstatSync(join(model.folder, 'config.json')).isSymbolicLink()).toBe(true)
    expect((await openTokenizer(model.folder)).vocabSize).toBe(512)
    const before = asked.length
    expect(await downloadModel(name, { env })).toEqual(model)
    expect(asked.slice(before).filter((url) => url.includes('/resolve/'))).toEqual([])
  })

  it('tries again what the network broke, and keeps no broken file (MOD-22)', async () => {
    const cut = (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 1000 }).write('half')
      response.socket?.destroy()
    }
    const { env } = await startHub({
      spoil(url, attempt) {
        if (url.includes('/revision/') && attempt === 1) return (response) => response.writeHead(503).end()
        if (url.endsWith('model.safetensors') && attempt === 1) return cut
        if (url.endsWith('model.safetensors') && attempt === 3) return cut
        return undefined
      },
    })
    const { folder: at } = await downloadModel(name, { env, clock: impatient })
    expect(readFileSync(join(at, 'model.safetensors')).equals(files[3]?.bytes ?? Buffer.of())).toBe(true)
    expect(readdirSync(join(at, '../../blobs')).filter((file) => file.includes('incomplete'))).toEqual([])
  })

  it('refuses bytes that are not those announced, and is then no model (MOD-22)', async () => {
    const other = Buffer.from('{"vocab_size": 666}')
    const { env } = await startHub({
      spoil: (url) =>
        url.endsWith('/config.json')
          ? (response) => sendFile(other, { headers: { range: 'bytes=0-0' } } as IncomingMessage, response)
          : undefined,
    })
    await expect(downloadModel(name, { env, clock: impatient })).rejects.toMatchObject({
      code: 'MODEL_MISSING',
      message: expect.stringContaining('config.json'),
    })
    expect(existsSync(join(env.HF_HOME, 'hub/models--acme--small/refs/main'))).toBe(false)
    await expect(resolveModelFolder(name, { env, project: folder() })).rejects.toMatchObject({ code: 'MODEL_MISSING' })
  })

  it('says what the hub refuses, at once (MOD-22)', async () => {
    const { env, asked } = await startHub({ spoil: () => (response) => response.writeHead(401).end() })
    await expect(downloadModel(name, { env, clock: impatient })).rejects.toMatchObject({
      code: 'MODEL_MISSING',
      message: `cannot download ${name}: the hub answered 401`,
      fix: expect.stringContaining('HF_TOKEN'),
    })
    expect(asked).toHaveLength(1)
    await expect(downloadModel(name, { env: { ...env, HF_HUB_OFFLINE: '1' } })).rejects.toMatchObject({
      code: 'MODEL_MISSING',
    })
    await expect(downloadModel(name, { env: { ...env, HF_TOKEN: 'x' } })).rejects.toMatchObject({
      code: 'MODEL_MISSING',
    })
    await expect(downloadModel('../x', { env })).rejects.toMatchObject({ code: 'MODEL_MISSING' })
    await expect(downloadModel(name, { env, revision: '../x' })).rejects.toMatchObject({ code: 'MODEL_MISSING' })
    expect(asked).toHaveLength(1)
  })

  it.each([
    [[], 'holds no files'],
    [[{ path: '../evil.json', bytes: Buffer.of() }], 'holds no files'],
    [[{ path: 'sub/evil.json', bytes: Buffer.of() }], 'holds no files'],
  ])('takes no files but those of a model: %j (MOD-22)', async (listed, message) => {
    const { env } = await startHub({ listed })
    await expect(downloadModel(name, { env })).rejects.toMatchObject({ message: expect.stringContaining(message) })
    expect(existsSync(join(env.HF_HOME, 'hub'))).toBe(false)
  })

  it('stops at the signal (MOD-22)', async () => {
    const { env } = await startHub()
    const controller = new AbortController()
    const stopped = downloadModel(name, {
      env,
      signal: controller.signal,
      onFile: () => controller.abort(new Error('enough')),
    })
    await expect(stopped).rejects.toThrow('enough')
    expect(existsSync(join(env.HF_HOME, 'hub/models--acme--small/refs'))).toBe(false)
  })
})
