// A command that no system can run is the doing of whoever wrote it, as a shell would tell: it must not look like a failure of the
// environment.
import type { EnvironmentCommand } from '../../contracts/index.ts'

/** Linux takes no argument that is longer, and bounds all of them together. */
const ARGUMENT_BYTES = 131_071
const ALL_BYTES = 1_500_000

/** Why a command cannot be started anywhere; absent: it can. */
export function commandFault({ argv, cwd, env = {} }: EnvironmentCommand): string | undefined {
  const words = [...argv, cwd ?? '', ...Object.entries(env).flat()]
  if (words.some((word) => word.includes('\0'))) return 'the command holds the character NUL'
  const bytes = words.map((word) => Buffer.byteLength(word))
  const isTooLong =
    bytes.some((each) => each > ARGUMENT_BYTES) || bytes.reduce((sum, each) => sum + each, 0) > ALL_BYTES
  return isTooLong ? 'argument list too long' : undefined
}
