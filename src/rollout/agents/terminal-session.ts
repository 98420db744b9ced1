// A terminal that stays: a bash in the environment, what is typed into it, and what it shows. With `script` in the environment it is
// a real terminal, in which keys such as C-c do what they do; without it, bash reads from a pipe.
import type { OpenEnvironment, SandboxProcess } from '../../contracts/index.ts'
import { onAbort } from '../../kernel/index.ts'

/** Of what was shown since it was last looked at, more than this is not kept. */
const keptChars = 256 * 1024

const start = `shell='bash --norc --noprofile -i'
if command -v script >/dev/null 2>&1; then stty_size='stty cols 160 rows 40 2>/dev/null;'; script -qfc "$stty_size exec $shell" /dev/null && exit; fi
exec $shell 2>&1`

export class TerminalSession implements AsyncDisposable {
  readonly #environment: OpenEnvironment
  readonly #signal: AbortSignal
  #process: SandboxProcess | undefined
  #reading: Promise<void> = Promise.resolve()
  #shown = ''
  #left = 0
  #ready = 0
  #isOver = true
  #onChange: () => void = () => {}

  constructor(environment: OpenEnvironment, signal: AbortSignal) {
    this.#environment = environment
    this.#signal = signal
  }

  /** Types, and waits until the shell has come back as often as it was asked to, or the time is up. */
  async type(keystrokes: string, durationS: number): Promise<void> {
    if (this.#isOver) await this.#start()
    const keys = keysOf(keystrokes)
    const lines = countIn(keys, '\n') + countIn(keys, '\x03')
    const wanted = this.#ready + lines
    await this.#process?.write(keys)
    await this.#until(() => lines > 0 && this.#ready >= wanted, durationS)
  }

  /** What was shown since the last time, as text. */
  async readScreen(): Promise<string> {
    if (this.#isOver) await this.#start()
    const text = plainScreen(this.#shown)
    const left = this.#left
    this.#shown = ''
    this.#left = 0
    return left === 0 ? text : `[${left} characters were not kept]\n${text}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]()
    await this.#reading
  }

  async #start(): Promise<void> {
    const isAgain = this.#process !== undefined
    await this.#process?.[Symbol.asyncDispose]()
    await this.#reading
    this.#isOver = false
    this.#ready = 0
    // A shell that is no terminal drops PS1 from the environment; this one sets it before it prompts.
    const env = { TERM: 'dumb', PROMPT_COMMAND: `PS1='${prompt}'`, HISTFILE: '/dev/null' }
    this.#process = await this.#environment.spawn({ argv: ['bash', '-c', start], env }, this.#signal)
    this.#reading = this.#read(this.#process)
    await this.#until(() => this.#ready > 0, 10)
    if (isAgain) this.#shown = `${this.#shown}[the shell had ended; this is a new one]\n`
    else this.#shown = lastLine(this.#shown) // what a shell prints when it starts is not shown
  }

  async #read(process: SandboxProcess): Promise<void> {
    let tail = ''
    try {
      for await (const { text } of process.output) {
        const seen = tail + text
        this.#ready += countIn(seen, readyMark)
        tail = seen.endsWith(readyMark) ? '' : seen.slice(-(readyMark.length - 1))
        this.#keep(text)
        this.#onChange()
      }
    } catch {
      // its end is all there is to know
    }
    this.#isOver = true
    this.#onChange()
  }

  // The beginning shows what was asked for, the end how it came out.
  #keep(text: string): void {
    this.#shown += text
    if (this.#shown.length <= 2 * keptChars) return
    this.#left += this.#shown.length - keptChars
    this.#shown = this.#shown.slice(0, keptChars / 2) + this.#shown.slice(-keptChars / 2)
  }

  #until(isThere: () => boolean, seconds: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        stopListening()
        this.#onChange = () => {}
        resolve()
      }
      const timer = setTimeout(done, seconds * 1000)
      const stopListening = onAbort(this.#signal, () => setImmediate(done))
      this.#onChange = () => {
        if (this.#isOver || isThere()) done()
      }
      this.#onChange()
    })
  }
}

const named: Readonly<Record<string, string>> = {
  Enter: '\n',
  Tab: '\t',
  Escape: '\x1b',
  Space: ' ',
  BSpace: '\x7f',
  Up: '\x1b[A',
  Down: '\x1b[B',
  Right: '\x1b[C',
  Left: '\x1b[D',
}

/** Keys by the names that tmux has for them, where the name stands alone; all else as it is. */
function keysOf(keystrokes: string): string {
  const name = keystrokes.trim()
  const control = /^C-([a-z])$/i.exec(name)?.[1]
  if (control !== undefined) return String.fromCharCode(control.toLowerCase().charCodeAt(0) - 96)
  return (Object.hasOwn(named, name) ? named[name] : undefined) ?? keystrokes
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1)
}

// What a terminal shows, as plain text: without control sequences, and without the mark that the shell prints when it is ready.

/** Ends the prompt; a terminal shows nothing for it. */
const readyMark = '\x1b]777;ready\x07'

/** The prompt of bash, in its own notation. */
const prompt = '\\u:\\w\\$ \\[\\e]777;ready\\a\\]'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is looked for
const sequences = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\^_=>]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\x00-\x07\x0b-\x1f\x7f]/g

/** Lines as they would stand there: what a carriage return wrote over is gone. */
export function plainScreen(raw: string): string {
  return raw
    .replace(sequences, '')
    .replaceAll(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => withoutBackspaces(line.slice(line.lastIndexOf('\r', line.length - 2) + 1)))
    .join('\n')
    .replace(controls, '')
}

function withoutBackspaces(line: string): string {
  if (!line.includes('\b')) return line
  const kept: string[] = []
  for (const char of line) {
    if (char === '\b') kept.pop()
    else kept.push(char)
  }
  return kept.join('')
}

function countIn(text: string, part: string): number {
  return text.split(part).length - 1
}
