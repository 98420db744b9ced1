// The level `chroot`: the same namespaces by the tools of util-linux. A first user namespace owns the mounts; the command lives
// in a second one inside it, without rights over the first, so it can undo nothing. Where no control group counts memory, the filter of
// system calls refuses what no limit of single processes covers; perl installs it, and without perl segments of System V alone are refused.

import { arch } from 'node:os'
import { seccompFilter } from './bubblewrap.ts'
import {
  envFile,
  fstab,
  innerCommand,
  isNoExec,
  type Launch,
  limited,
  maskedFiles,
  type Plan,
  staged,
  type TableMount,
  toolPath,
} from './launch.ts'
import { devices as usual } from './state-folder.ts'

// Sets the loopback up without any tool but perl: SIOCSIFFLAGS with IFF_UP and IFF_RUNNING.
export const raiseLoopback = `socket(S, 2, 2, 0) && ioctl(S, 0x8914, pack("a16s", "lo", 0x41))`

/** prctl. */
const prctl = { x64: 157, arm64: 167 }[arch() as string] ?? 0

// PR_SET_SECCOMP with SECCOMP_MODE_FILTER; setpriv has set no_new_privs before.
export const filteredBy = (file: number) =>
  `open F, "<&=${file}"; local $/; $b = <F>; $p = pack "S x6 P", length($b) / 8, $b; syscall(${prctl}, 22, 2, $p) == 0 or die "filter: $!"; exec @ARGV`

const setUp = `set -e; mount -a -T /proc/self/fd/4
if [ "$1" = private ]; then ip link set lo up 2>/dev/null || perl -e '${raiseLoopback}' 2>/dev/null || :; fi; shift
echo 1 > /proc/sys/user/max_user_namespaces
counted=$1; shift
if [ "$counted" = uncounted ]; then
  for each in shmmni msgmni; do echo 0 > /proc/sys/kernel/$each || :; done 2>/dev/null
fi
cd "$R"; pivot_root . .; umount -l .; cd /; unset R; set +e
if [ "$counted" = uncounted ] && [ -s /proc/self/fd/6 ] && command -v perl >/dev/null; then set -- perl -e '${filteredBy(6)}' -- "$@"; fi
unshare --user --map-root-user setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+chown,+dac_override,+fowner -- "$@"
exit $?`

export function chrootPlan(launch: Launch): Plan {
  const { spec, state, layout: named } = launch
  const isCounted = launch.doors.length > 0
  const filter = isCounted ? undefined : seccompFilter({ unnamedMemory: launch.devices.length > 0 })
  const { layout, table, enter } = staged({
    ...launch,
    layout: { ...named, binds: [own(state.inside), own(state.dev), ...named.binds] },
  })
  const [inside, dev, ...binds] = layout.binds
  const root = inside?.source ?? state.inside
  const bind = (source: string, target: string, options: readonly string[], origin = source): TableMount => ({
    source,
    target: target === '/' ? root : `${root}${target}`,
    options: ['rbind', 'nosuid', ...options, ...(isNoExec(origin) ? ['noexec'] : [])],
  })
  const mounts: TableMount[] = [
    bind(layout.root, '/', ['nodev'], named.root),
    bind(dev?.source ?? state.dev, '/dev', ['ro'], state.dev),
    ...usual.map((name) => bind(`/dev/${name}`, `/dev/${name}`, [])),
    ...launch.devices.map(({ source, target }) => bind(source, target, [])),
    {
      source: 'devpts',
      target: `${root}/dev/pts`,
      type: 'devpts',
      options: ['newinstance', 'ptmxmode=0666', 'mode=620'],
    },
    ...binds.map(({ source, target, writable }, i) =>
      bind(source, target, ['nodev', writable ? 'rw' : 'ro'], named.binds[i]?.source),
    ),
    { source: 'proc', target: `${root}/proc`, type: 'proc', options: ['nosuid', 'nodev', 'noexec'] },
    ...maskedFiles().map((path) => bind('/dev/null', path, ['ro'])),
  ]
  const net = spec.network === true ? [] : ['--net']
  const argv = [
    ...['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--user', '--map-root-user', '--mount', '--pid', ...net],
    ...['--ipc', '--uts', '--cgroup', '--fork', '--kill-child=KILL', '--propagation', 'private'],
    ...[
      '/bin/sh',
      '-c',
      setUp,
      'sh',
      spec.network === true ? 'shared' : 'private',
      isCounted ? 'counted' : 'uncounted',
      ...innerCommand(launch),
    ],
  ]
  return {
    argv: limited(launch, enter(argv)),
    env: { PATH: toolPath, R: root },
    files: [envFile(spec.env ?? {}), fstab(mounts), { reports: 'started' }, filter ?? '', table ?? ''],
  }
}

const own = (source: string) => ({ source, target: '', writable: false })
