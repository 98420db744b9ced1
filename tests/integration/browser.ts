// Chromium without a window, driven through pipes (the DevTools protocol: JSON with a NUL after each message).
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { needs } from '../needs.ts'

export const chromium = needs('Chromium', () => {
  const { status, error } = spawnSync('chromium', ['--version'], { encoding: 'utf8' })
  return status === 0 ? true : (error?.message ?? 'chromium does not start')
})

export interface OpenedPage {
  /** Errors and warnings on the console, and exceptions. */
  readonly complaints: string[]
  /** Addresses that it asked for, without its own. */
  readonly requests: string[]
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>
}

export interface PageView {
  readonly scheme: 'light' | 'dark'
  readonly width: number
}

export interface Browser extends AsyncDisposable {
  open(file: string, view: PageView): Promise<OpenedPage>
}

type Message = {
  id?: number | undefined
  method?: string | undefined
  sessionId?: string | undefined
  params?: Record<string, unknown> | undefined
  result?: Record<string, unknown> | undefined
  error?: { message: string } | undefined
}

export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'evsys-chromium-'))
  const quiet = ['--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update']
  // The sandbox of Chromium itself needs rights that root in a container lacks; it opens our own files alone.
  const args = ['--headless=new', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${profile}`, ...quiet]
  const child = spawn('chromium', [...args, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
  const link = connect(child.stdio[3] as Writable, child.stdio[4] as Readable) // pipes, as asked for above
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    open: (file, view) => openPage(link, pathToFileURL(file).href, view),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

interface Link {
  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>>
  onEvent(listener: (message: Message) => void): void
}

function connect(input: Writable, output: Readable): Link {
  const waiting = new Map<number, (message: Message) => void>()
  const listeners: ((message: Message) => void)[] = []
  let rest = ''
  let last = 0
  output.setEncoding('utf8')
  output.on('data', (text: string) => {
    const parts = (rest + text).split('\0')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const message: Message = JSON.parse(part)
      if (message.id === undefined) for (const listener of listeners) listener(message)
      else waiting.get(message.id)?.(message)
    }
  })
  return {
    send: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, ({ error, result = {} }) =>
          error === undefined ? resolve(result) : reject(new Error(error.message)),
        )
        input.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
      }),
    onEvent: (listener) => listeners.push(listener),
  }
}

async function openPage(link: Link, url: string, { scheme, width }: PageView): Promise<OpenedPage> {
  const { targetId } = await link.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await link.send('Target.attachToTarget', { targetId, flatten: true })
  const send = (method: string, params?: object) => link.send(method, params, String(sessionId))
  const complaints: string[] = []
  const requests: string[] = []
  const loaded = new Promise<void>((resolve) => {
    link.onEvent((message) => {
      if (message.sessionId !== sessionId) return
      if (message.method === 'Page.loadEventFired') resolve()
      const told = JSON.stringify(message.params)
      if (/^(?:Runtime\.consoleAPICalled|Runtime\.exceptionThrown|Log\.entryAdded)$/.test(message.method ?? ''))
        complaints.push(told)
      if (message.method === 'Network.requestWillBeSent') requests.push(requestUrl(message))
    })
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`)
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
  await send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false })
  await send('Page.navigate', { url })
  await loaded
  return {
    complaints,
    get requests() {
      return requests.filter((each) => each !== url && !each.startsWith('data:'))
    },
    async evaluate(expression) {
      const { result } = await send('Runtime.evaluate', { expression, returnByValue: true })
      return (result as { value?: unknown } | undefined)?.value // a RemoteObject
    },
  }
}

function requestUrl({ params }: Message): string {
  return String((params?.request as { url?: unknown } | undefined)?.url) // a Network.Request
}
