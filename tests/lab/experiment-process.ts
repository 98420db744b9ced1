// Experiments in processes of their own, which may be killed: started and followed line by line.
import { ErrorRecord } from '../../src/contracts/index.ts'
import { type Child, startChild } from '../start-child.ts'

export interface Line {
  /** Asynchronous operations that the process had begun. */
  readonly at: number
  readonly text: string
}

export interface ExperimentProcess extends AsyncDisposable {
  /** Reads on to a line that contains the text. */
  until(text: string): Promise<Line>
  /** Waits for the end; everything that was printed and not yet read. */
  end(): Promise<{ code: number | string; lines: Line[]; error: ErrorRecord | undefined }>
  readonly process: Child['process']
  kill(): Promise<void>
}

export interface StartOptions {
  readonly resume?: boolean | undefined
  readonly alone?: boolean | undefined
  /** Kills itself, and its process group, at this operation. */
  readonly killAt?: number | undefined
  /** The same, counted from the end of its last run. */
  readonly killConcluding?: number | undefined
  readonly wrap?: readonly string[] | undefined
  /** Not in a sandbox: its plugins write into the project. */
  readonly open?: boolean | undefined
}

/** Starts an experiment from its file. */
export function startExperiment(
  file: string,
  { resume = false, alone = false, open = false, killAt, killConcluding, wrap = [] }: StartOptions = {},
): ExperimentProcess {
  const flags = [
    ...(resume ? ['resume'] : []),
    ...(alone ? ['alone'] : []),
    ...(open ? ['open'] : []),
    ...(killAt === undefined ? [] : [`kill=${killAt}`]),
    ...(killConcluding === undefined ? [] : [`kill-concluding=${killConcluding}`]),
  ]
  const child = startChild('run-experiment', [file, ...flags], { wrap, detached: true })
  return {
    process: child.process,
    kill: child.kill,
    async until(text) {
      const seen: string[] = []
      for (;;) {
        const line = parse(
          await child.line().catch((cause: unknown) => {
            throw new Error(`it never said "${text}"; it said: ${seen.join(' | ')}`, { cause })
          }),
        )
        if (line.text.includes(text)) return line
        seen.push(line.text)
      }
    },
    async end() {
      const lines: Line[] = []
      for (let line = await child.line().catch(() => undefined); line !== undefined; ) {
        lines.push(parse(line))
        line = await child.line().catch(() => undefined)
      }
      const said = lines.find(({ text }) => text.startsWith('error '))?.text.slice('error '.length)
      const error = said === undefined ? undefined : ErrorRecord.parse(JSON.parse(said))
      return { code: await child.exit(), lines, error }
    },
    [Symbol.asyncDispose]: child[Symbol.asyncDispose],
  }
}

function parse(line: string): Line {
  const [at = '', ...rest] = line.split(' ')
  return { at: Number(at), text: rest.join(' ') }
}
