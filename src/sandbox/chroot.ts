// The level `chroot`: the same namespaces by the tools of util-linux. A first user namespace owns the mounts; the command lives
// in a second one inside it, without rights over the first, so it can undo nothing. There is no filter of system calls.

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
const raiseLoopback = `socket(S, 2, 2, 0) && ioctl(S, 0x8914, pack("a16s", "lo", 0x41))`

const setUp = `set -e; mount -a -T /proc/self/fd/4
if [ "$1" = private ]; then ip link set lo up 2>/dev/null || perl -e '${raiseLoopback}' 2>/dev/null || :; fi; shift
echo 1 > /proc/sys/user/max_user_namespaces
cd "$R"; pivot_root . .; umount -l .; cd /; unset R; set +e
unshare --user --map-root-user setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+chown,+dac_override,+fowner -- "$@"
exit $?`

export function chrootPlan(launch: Launch): Plan {
  const { spec, state, layout: named } = launch
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
    ...['/bin/sh', '-c', setUp, 'sh', spec.network === true ? 'shared' : 'private', ...innerCommand(launch)],
  ]
  return {
    argv: limited(launch, enter(argv)),
    env: { PATH: toolPath, R: root },
    files: [envFile(spec.env ?? {}), fstab(mounts), { reports: 'started' }, '', table ?? ''],
  }
}

const own = (source: string) => ({ source, target: '', writable: false })
