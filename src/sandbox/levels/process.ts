// The level `process`: no isolation. The command is an ordinary process with a clean environment and the limits of single
// processes; it sees this machine as we do, and mounts are not shown. For code that is trusted, and only when asked for by name.
import { join, relative } from 'node:path'
import { type Launch, limited, toolPath } from './launch.ts'

export interface ProcessPlan {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export function processPlan(launch: Launch): ProcessPlan {
  const { spec, layout, state } = launch
  const env = {
    PATH: [process.env.PATH, toolPath].filter(Boolean).join(':'),
    HOME: join(state.root, 'root'),
    LANG: 'C.UTF-8',
    ...spec.env,
  }
  const argv = process.platform === 'linux' ? limited(launch, spec.argv) : spec.argv
  return { argv, env, cwd: hostPath(launch, spec.cwd ?? layout.root) }
}

// The folder is the one that a mount stands for; everything else is named as it is.
function hostPath({ layout }: Launch, path: string): string {
  const isUnder = (target: string) => path === target || path.startsWith(`${target}/`)
  const under = layout.binds.filter(({ target }) => isUnder(target)).at(-1)
  return under === undefined ? path : join(under.source, relative(under.target, path))
}
