// `evsys serve` in this process, until a test ends it.
import { main } from '../../src/cli/main.ts'

/** Serves on a free port. */
export async function serving(cwd: string, ...words: string[]) {
  const interruption = new AbortController()
  let printed = ''
  let complaints = ''
  const { promise, resolve } = withResolvers<string>()
  const ended = main(['serve', '--port', '0', ...words], {
    stdout: {
      write(text) {
        printed += text
        resolve(text)
      },
    },
    stderr: {
      write(text) {
        complaints += text
      },
    },
    stdin: (async function* () {})(),
    cwd,
    env: {},
    signal: interruption.signal,
  })
  const said = await Promise.race([promise, ended.then((code) => `ended with ${code}: ${complaints}`)])
  const end = () => {
    interruption.abort()
    return ended
  }
  return { said, url: /http:[^\s,]+/.exec(said)?.[0], end, printed: () => printed }
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
