// Where a benchmark of task folders may be attempted: in environments that are all ours, since they hold the tests.
import type { PluginSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

const ours: readonly string[] = ['local', 'docker']

/** Checks that an environment may hold a benchmark. Absent: the least that holds each task. */
export function requireTrialEnvironment(
  environment: PluginSpec | undefined,
  benchmark: string,
): PluginSpec | undefined {
  if (environment === undefined || ours.includes(environment.kind)) return environment
  throw new EvsysError(
    'CONFIG_INVALID',
    `benchmark "${benchmark}" is made of task folders, and the environment "${environment.kind}" cannot hold it: it has no files, or is code of the project, which must not see the tests`,
    { fix: `name one of ${ours.join(', ')}, or none.` },
  )
}
