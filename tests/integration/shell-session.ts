// A shell in a terminal of its own, driven by keys as a person would: what <Tab> does there cannot be seen any other way.
import { spawn } from 'node:child_process'

export interface ShellSession extends AsyncDisposable {
  /** Types keys: text, `\t`, `\r`, control characters. */
  type(keys: string): void
  /** Waits until the terminal has shown `text` after what was read before, and returns all up to there. */
  until(text: string): Promise<string>
}

const prompt = 'ready> '

export interface ShellOptions {
  /** Command line of the shell. */
  command: string
  /** Lines to begin with. */
  setup: readonly string[]
  env: Record<string, string>
  cwd: string
}

/** Starts a shell under `script`, which gives it a terminal, and waits until it has run its first lines. */
export async function openShell({ command, setup, env, cwd }: ShellOptions): Promise<ShellSession> {
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm', COLUMNS: '200', LINES: '50' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let seen = ''
  let wake: () => void = () => {}
  let ended = false
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString('utf8')
    wake()
  })
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => {
      ended = true
      wake()
      resolve()
    })
  })
  const session: ShellSession = {
    type: (keys) => {
      child.stdin.write(keys)
    },
    async until(text) {
      for (;;) {
        const at = seen.indexOf(text)
        if (at >= 0) {
          const shown = seen.slice(0, at + text.length)
          seen = seen.slice(at + text.length)
          return shown
        }
        if (ended) throw new Error(`the shell ended before it showed ${JSON.stringify(text)}: ${JSON.stringify(seen)}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
    },
  }
  // Written in two parts, so that the echo of this line does not look like the prompt.
  session.type(`${[...setup, "PS1='rea''dy> '"].join('; ')}\r`)
  await session.until(prompt)
  return session
}

/** Types a command line with its <Tab>s, runs it through printf instead, and returns the words that the shell made of it. */
export async function completedWords(shell: ShellSession, keys: string): Promise<string[]> {
  shell.type(`${keys}\u0001printf '[%s]\\n' \u0005 END\r`) // to the start of the line, to its end
  const shown = await shell.until('[END]')
  await shell.until(prompt)
  return [...shown.matchAll(/^\[(.*)\]\r?$/gm)].map(([, word]) => word ?? '').slice(0, -1)
}

/** Empties the line that was typed so far and waits until the shell has taken that in. */
export async function leaveLine(shell: ShellSession): Promise<void> {
  shell.type(`\u0001\u000bprintf '[%s]\\n' LEFT\r`) // to the start of the line, cut the rest
  await shell.until('[LEFT]')
  await shell.until(prompt)
}
