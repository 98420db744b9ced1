// The level `container`: a fresh container per command, by the user's docker program. Files live in the state folder and the
// mounts; everything else is the image's, read-only. Rights: none; network: none unless asked for.
import { randomBytes } from 'node:crypto'
import { join, relative } from 'node:path'
import { type Launch, limited, toolPath } from './launch.ts'
import { isWithin } from './proc-files.ts'

interface ContainerPlan {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Ends the container, which outlives the program that started it. */
  readonly stop: readonly string[]
}

/** Settings of the docker program itself, which it must keep to find its engine. */
const forDocker = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'HOME']

export function containerPlan(launch: Launch, image: string, host: NodeJS.ProcessEnv = process.env): ContainerPlan {
  const { spec, layout, devices, state } = launch
  const { memoryBytes, processes, diskBytes, timeoutMs } = spec.limits
  const name = `evsys-${process.pid}-${randomBytes(6).toString('hex')}`
  const uid = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`
  const volumes = layout.binds.flatMap(({ source, target, writable }) => [
    '--mount',
    `type=bind,source=${source},target=${target}${writable ? '' : ',readonly'}`,
  ])
  const variables = { HOME: '/root', LANG: 'C.UTF-8', ...spec.env }
  const argv = [
    ...['docker', 'run', '--rm', '--interactive', '--init', '--name', name, '--pull', 'never', '--user', uid],
    ...['--network', spec.network === true ? 'bridge' : 'none', '--cap-drop', 'ALL', '--read-only'],
    ...['--hostname', 'sandbox'],
    ...['--security-opt', 'no-new-privileges', '--pids-limit', String(processes + 2), '--memory', String(memoryBytes)],
    ...['--memory-swap', String(memoryBytes), '--ulimit', 'core=0', '--ulimit', `fsize=${diskBytes}`],
    ...['--stop-timeout', '0', '--label', `evsys.until=${Date.now() + timeoutMs}`],
    ...['--mount', `type=bind,source=${state.root}/tmp,target=/tmp`],
    ...['--mount', `type=bind,source=${state.root}/root,target=/root`, ...volumes, '--workdir', spec.cwd ?? '/'],
    ...devices.flatMap(({ source, target }) => ['--device', `${source}:${target}:rw`]),
    // Values come from our environment to docker's, not from arguments, which others can read.
    ...Object.keys(variables).flatMap((each) => [
      '--env',
      forDocker.includes(each) ? `${each}=${variables[each as 'HOME']}` : each,
    ]),
    ...['--', image, ...spec.argv],
  ]
  const own = Object.fromEntries(forDocker.flatMap((each) => (host[each] === undefined ? [] : [[each, host[each]]])))
  const path = host.PATH ?? toolPath
  return { argv, env: { ...variables, ...own, PATH: path }, stop: ['docker', 'kill', name] }
}

// The level `process`: no isolation. The command is an ordinary process with a clean environment and the limits of single
// processes; it sees this machine as we do, and mounts are not shown. For code that is trusted, and only when asked for by name.

interface ProcessPlan {
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
  const under = layout.binds.filter(({ target }) => isWithin(target, path)).at(-1)
  return under === undefined ? path : join(under.source, relative(under.target, path))
}
