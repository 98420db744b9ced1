// A running command, as its caller sees it: what it writes comes piece by piece, and waits when no one reads.
import type { ExecResult, SandboxProcess } from '../contracts/index.ts'
import type { Command, CommandOptions } from './run-command.ts'
import { sandboxFailed } from './sandbox-error.ts'

type Piece = { readonly stream: 'stdout' | 'stderr'; readonly text: string }

/** Starts it. `run` makes the command with the options of its output. */
export function sandboxProcess(
  run: (options: Pick<CommandOptions, 'onOutput' | 'interactive'>) => Command,
  backlogBytes: number,
): SandboxProcess {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const pieces: Piece[] = []
  let waiting = 0
  let isOver = false
  let wake = () => {}
  const command = run({
    interactive: true,
    onOutput(stream, chunk) {
      pieces.push({ stream, text: decoders[stream].decode(chunk, { stream: true }) })
      waiting += chunk.byteLength
      wake()
      return waiting < backlogBytes
    },
  })
  const finish = () => {
    isOver = true
    wake()
  }
  command.exit.then(finish, finish)

  async function* output(): AsyncGenerator<Piece> {
    for (;;) {
      const piece = pieces.shift()
      if (piece !== undefined) {
        if (pieces.length === 0) {
          waiting = 0
          if (!isOver) command.resume()
        }
        if (piece.text !== '') yield piece
      } else if (isOver) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }

  const end = (text?: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const { stdin } = command
      const failed = (cause: unknown) => reject(sandboxFailed('the command does not read any more', undefined, cause))
      if (stdin === null || stdin.destroyed || stdin.writableEnded)
        return text === undefined ? resolve() : failed(undefined)
      if (text === undefined) stdin.end(() => resolve())
      else stdin.write(text, (cause) => (cause === null || cause === undefined ? resolve() : failed(cause)))
    })

  return {
    output: { [Symbol.asyncIterator]: output },
    write: (text) => end(text),
    end: () => end(),
    exit: command.exit satisfies Promise<ExecResult>,
    async [Symbol.asyncDispose]() {
      command.kill()
      await command.exit.catch(() => undefined)
    },
  }
}
