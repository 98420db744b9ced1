// The environment as an agent holds it: with the agent's account and variables, and only as long as its phase lasts. An agent that goes
// on after its deadline finds every door closed.
import type { EnvironmentCommand, OpenEnvironment } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export interface LentEnvironment {
  readonly environment: OpenEnvironment
  /** Closes it and waits for the calls under way, which cannot be called back, to end. */
  takeBack(): Promise<void>
}

/** What every command of the agent gets. Its own variables yield to `env`. */
export interface Lending {
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string | number
  readonly network?: boolean
}

export function lendEnvironment(environment: OpenEnvironment, { env, user, network }: Lending = {}): LentEnvironment {
  const underWay = new Set<Promise<unknown>>()
  let isOver = false
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isOver) throw new EvsysError('AGENT_FAILED', 'the phase of the agent is over: its environment is closed to it')
    const call = work()
    underWay.add(call)
    try {
      return await call
    } finally {
      underWay.delete(call)
    }
  }
  const asLent = (command: EnvironmentCommand): EnvironmentCommand => ({
    ...(user === undefined ? {} : { user }),
    ...(network === undefined ? {} : { network }),
    ...command,
    ...(env === undefined ? {} : { env: { ...command.env, ...env } }),
  })
  return {
    environment: {
      level: environment.level,
      workdir: environment.workdir,
      exec: (command, signal) => during(() => environment.exec(asLent(command), signal)),
      spawn: (command, signal) => during(() => environment.spawn(asLent(command), signal)),
      read: (path) => during(() => environment.read(path)),
      write: (path, bytes) => during(() => environment.write(path, bytes)),
      upload: (source, target) => during(() => environment.upload(source, target)),
      download: (source, target) => during(() => environment.download(source, target)),
      empty: (path) => during(() => environment.empty(path)),
      killAll: () => during(() => environment.killAll()),
      // It is the trial's: an agent that closes what it was lent closes nothing.
      [Symbol.asyncDispose]: async () => {},
    },
    async takeBack() {
      isOver = true
      await environment.killAll()
      await Promise.allSettled(underWay)
    },
  }
}
