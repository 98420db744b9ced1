// The level `bubblewrap`: every namespace, a filter of system calls, no way to make further namespaces.
import { spawnSync } from 'node:child_process'
import { envFile, innerCommand, type Launch, limited, maskedFiles, type Plan, toolPath } from './launch.ts'
import { seccompFilter } from './seccomp-filter.ts'
import { staged } from './staged.ts'

/** Rights of root over its own files; none of them reaches beyond the sandbox. */
const kept = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER']

export function bubblewrapPlan(launch: Launch): Plan {
  const { spec, devices } = launch
  // NVIDIA's driver names its threads in /proc and gives up where it cannot. What would reach beyond the sandbox, bwrap covers itself.
  const proc = devices.length > 0 ? [] : ['--remount-ro', '/proc']
  const { layout, table, enter } = staged(launch)
  const filter = seccompFilter()
  const orders = [
    ...['--unshare-user', '--uid', '0', '--gid', '0', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...['--unshare-cgroup-try', ...(spec.network === true ? [] : ['--unshare-net'])],
    ...(disablesNamespaces() ? ['--disable-userns'] : []),
    ...[
      '--info-fd',
      '8',
      '--die-with-parent',
      '--new-session',
      '--hostname',
      'sandbox',
      '--clearenv',
      '--setenv',
      'PATH',
      toolPath,
    ],
    ...['--cap-drop', 'ALL', ...kept.flatMap((each) => ['--cap-add', each])],
    ...['--bind', layout.root, '/', '--dev', '/dev'],
    ...devices.flatMap(({ source, target }) => ['--dev-bind', source, target]),
    ...layout.binds.flatMap(({ source, target, writable }) => [writable ? '--bind' : '--ro-bind', source, target]),
    ...['--proc', '/proc', ...maskedFiles().flatMap((path) => ['--ro-bind', '/dev/null', path])],
    ...['--remount-ro', '/dev', ...proc, '--chdir', '/'],
    ...(filter === undefined ? [] : ['--seccomp', '6']),
  ]
  const inside = ['bwrap', '--args', '4', '--', ...innerCommand(launch)]
  return {
    argv: limited(launch, enter(inside)),
    env: { PATH: toolPath },
    files: [
      ...[envFile(spec.env ?? {}), orders.map((each) => `${each}\0`).join(''), { tells: 'started' } as const],
      ...[filter ?? '', table ?? '', { tells: 'first' } as const],
    ],
  }
}

let known: boolean | undefined

// Since 0.8. Before it the filter alone refuses further namespaces.
function disablesNamespaces(): boolean {
  known ??=
    spawnSync('bwrap', ['--help'], { env: { PATH: toolPath }, encoding: 'utf8' }).stdout?.includes(
      '--disable-userns',
    ) ?? false
  return known
}
