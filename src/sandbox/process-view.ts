// The command line that shuts one long-lived process in: it sees a root of ours with what is mounted there, and folders that a helper beside
// it shows and takes away later. The helper lives in the namespace of mounts around the process, which follows it; the process has rights
// over neither. Open files: 3 to 5 are the process's, 6 speaks to the helper, 7 holds the orders of the level, 8 the filter of system calls.
import { seccompFilter } from './bubblewrap.ts'
import { filteredBy, raiseLoopback } from './chroot.ts'
import { fstab, isNoExec, maskedFiles, type TableMount, toolPath } from './launch.ts'
import { devices } from './state-folder.ts'

export interface ViewMount {
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

export interface View {
  readonly level: 'bubblewrap' | 'chroot'
  /** Folder that is `/` inside, read-only: every target has its place in it, or in the source of the mount above it. */
  readonly root: string
  /** A file that is there inside, and nowhere else: what does not see it is not shut in, and ends before `command` is started. */
  readonly mark: string
  /** Folder that is /dev at the level chroot. */
  readonly dev: string
  /** In the order in which they are made. */
  readonly mounts: readonly ViewMount[]
  /** Where mounts made later come in; a source of one of `mounts`. */
  readonly slots: string
  /** A folder over which a mount is made before it is shown. */
  readonly hold: string
  readonly network: boolean
  /** Files that open a control group to a process that writes into them. */
  readonly doors: readonly string[]
  /** Arguments of prlimit outside and inside. */
  readonly outerLimits: readonly string[]
  readonly innerLimits: readonly string[]
  readonly disablesNamespaces: boolean
}

export interface ViewLaunch {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Contents of the files 7 and 8. */
  readonly files: readonly (string | Uint8Array)[]
}

/** How `command` is started inside, in the folder `cwd` and with the variables `env`. */
export function viewLaunch(
  view: View,
  command: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): ViewLaunch {
  // A filter is code of the kernel that runs at every call: it is needed where memory is not counted, and refuses ways out besides.
  const filter = seccompFilter({ unnamedMemory: view.doors.length > 0 })
  const inner = ['/bin/sh', '-c', enterFolder, 'sh', view.mark, cwd, env.PATH ?? toolPath, ...command]
  const limitedInner = ['prlimit', ...view.innerLimits, '--', ...inner]
  const shut = view.level === 'bubblewrap' ? bubblewrapped(view, limitedInner) : chrooted(view, limitedInner)
  const staged = ['unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private', '/bin/sh', '-c', stage]
  const argv = ['prlimit', ...view.outerLimits, '--', ...staged, 'sh', view.slots, view.hold, ...shut.argv]
  return {
    argv: ['/bin/sh', '-c', join, 'sh', String(view.doors.length), ...view.doors, ...argv],
    env: { ...env, PATH: toolPath },
    files: [shut.orders, filter ?? ''],
  }
}

const join = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 > "$1" || exit 125; shift; n=$((n - 1)); done; exec "$@"'

const enterFolder = `[ -e "$1" ] && [ "$$" -lt 99 ] || { echo "it is not shut in" >&2; exit 98; }
exec 6<&- 7<&- 8<&-; cd -- "$2" || exit 126; PATH=$3; export PATH; shift 3; exec "$@"`

// The helper answers each order with a line that begins with 0 where it was done. It ends with the one that gives orders.
const stage = `s=$1 h=$2; shift 2; umask 022
mount --bind "$s" "$s" && mount --make-shared "$s" || exit 97
( exec </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 7>&- 8>&-
  while IFS= read -r op <&6 && IFS= read -r from <&6 && IFS= read -r to <&6; do
    case $op in
      show) out=$(mount --bind "$from" "$s/$to" 2>&1) ;;
      lend) out=$({ mount --bind "$from" "$h" && mount -o remount,bind,ro "$h" && mount --bind "$h" "$s/$to" && umount "$h"; } 2>&1) ;;
      *) out=$(umount "$s/$to" 2>&1) ;;
    esac
    printf '%s %s\\n' "$?" "\${out%%
*}" >&6
  done ) &
exec 6<&-; exec "$@"`

interface Shut {
  readonly argv: readonly string[]
  readonly orders: string
}

function bubblewrapped({ root, mounts, network, disablesNamespaces }: View, command: readonly string[]): Shut {
  const { uid, gid } = self()
  const orders = [
    ...['--unshare-user', '--uid', uid, '--gid', gid, '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...['--unshare-cgroup-try', ...(network ? [] : ['--unshare-net'])],
    ...(disablesNamespaces ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--new-session', '--hostname', 'sandbox', '--cap-drop', 'ALL'],
    ...['--ro-bind', root, '/', '--dev', '/dev'],
    ...mounts.flatMap(({ source, target, writable }) => [writable ? '--bind' : '--ro-bind', source, target]),
    ...['--proc', '/proc', ...maskedFiles().flatMap((path) => ['--ro-bind', '/dev/null', path])],
    ...['--remount-ro', '/dev', '--remount-ro', '/proc'],
  ]
  const filter = seccompFilter({ unnamedMemory: true }) === undefined ? [] : ['--seccomp', '8']
  return {
    argv: ['bwrap', '--args', '7', ...filter, '--', ...command],
    orders: orders.map((each) => `${each}\0`).join(''),
  }
}

/** Parts of /proc through which root outside could change the kernel: the user of the sandbox is root outside where evsys runs as root. */
const kernelSettings = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr']

const setUp = `set -e; r=$1 net=$2 settings=$3 uid=$4 gid=$5; shift 5
mount -a -T /proc/self/fd/7
if [ "$net" = private ]; then ip link set lo up 2>/dev/null || perl -e '${raiseLoopback}' 2>/dev/null || :; fi
echo 1 > /proc/sys/user/max_user_namespaces
cd "$r"; pivot_root . .; umount -l .; cd /
for x in $settings; do if [ -e "/proc/$x" ]; then mount --bind "/proc/$x" "/proc/$x"; mount -o remount,bind,ro "/proc/$x"; fi; done
set +e
if [ -s /proc/self/fd/8 ] && command -v perl >/dev/null; then set -- perl -e '${filteredBy(8)}' -- "$@"; fi
unshare --user --map-user="$uid" --map-group="$gid" setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
exit $?`

function chrooted({ root, dev, mounts, network }: View, command: readonly string[]): Shut {
  const { uid, gid } = self()
  const bind = (source: string, target: string, options: readonly string[]): TableMount => ({
    source,
    target: target === '/' ? root : `${root}${target}`,
    options: ['rbind', 'nosuid', ...options, ...(isNoExec(source) ? ['noexec'] : [])],
  })
  const table: TableMount[] = [
    bind(root, '/', ['nodev', 'ro']),
    bind(dev, '/dev', ['ro']),
    ...devices.map((name) => bind(`/dev/${name}`, `/dev/${name}`, [])),
    {
      source: 'devpts',
      target: `${root}/dev/pts`,
      type: 'devpts',
      options: ['newinstance', 'ptmxmode=0666', 'mode=620'],
    },
    ...mounts.map(({ source, target, writable }) => bind(source, target, ['nodev', writable ? 'rw' : 'ro'])),
    { source: 'proc', target: `${root}/proc`, type: 'proc', options: ['nosuid', 'nodev', 'noexec'] },
    ...maskedFiles().map((path) => bind('/dev/null', path, ['ro'])),
  ]
  const spaces = ['--mount', '--pid', ...(network ? [] : ['--net']), '--ipc', '--uts', '--cgroup', '--fork']
  return {
    argv: [
      ...['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', ...spaces, '--kill-child=KILL', '--propagation', 'slave'],
      ...['/bin/sh', '-c', setUp, 'sh', root, network ? 'shared' : 'private', kernelSettings.join(' '), uid, gid],
      ...command,
    ],
    orders: fstab(table),
  }
}

function self() {
  return { uid: String(process.getuid?.() ?? 0), gid: String(process.getgid?.() ?? 0) }
}
