// The level `bubblewrap`: every namespace, a filter of system calls, no way to make further namespaces.
import { spawnSync } from 'node:child_process'
import { arch, endianness } from 'node:os'
import { envFile, innerCommand, type Launch, limited, maskedFiles, type Plan, staged, toolPath } from './launch.ts'

/** Rights of root over its own files; none of them reaches beyond the sandbox. */
const kept = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER']

export function bubblewrapPlan(launch: Launch): Plan {
  const { spec, devices } = launch
  // NVIDIA's driver names its threads in /proc and gives up where it cannot. What would reach beyond the sandbox, bwrap covers itself.
  const proc = devices.length > 0 ? [] : ['--remount-ro', '/proc']
  const { layout, table, enter } = staged(launch)
  // Where no control group counts it, memory without a name is refused: no limit of single processes covers it. A GPU cannot be used
  // without: CUDA ends with `out of memory`, so that there the watch alone counts it.
  const filter = seccompFilter({ unnamedMemory: launch.doors.length > 0 || devices.length > 0 })
  const orders = [
    ...['--unshare-user', '--uid', '0', '--gid', '0', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...['--unshare-cgroup-try', ...(spec.network === true ? [] : ['--unshare-net'])],
    ...(disablesNamespaces() ? ['--disable-userns'] : []),
    ...['--info-fd', '8', '--die-with-parent', '--new-session', '--hostname', 'sandbox'],
    ...['--clearenv', '--setenv', 'PATH', toolPath],
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
      ...[envFile(spec.env ?? {}), orders.map((each) => `${each}\0`).join(''), { reports: 'started' } as const],
      ...[filter ?? '', table ?? '', { reports: 'first' } as const],
    ],
  }
}

let known: boolean | undefined

// Since 0.8. Before it the filter alone refuses further namespaces.
export function disablesNamespaces(): boolean {
  const help = () => spawnSync('bwrap', ['--help'], { env: { PATH: toolPath }, encoding: 'utf8' }).stdout
  known ??= help()?.includes('--disable-userns') ?? false
  return known
}

// A filter of system calls for commands in bubblewrap, in the byte code of the kernel: what changes mounts, namespaces, keys,
// the clock or the kernel itself is refused with EPERM, all else passes. It takes little from honest programs, and closes the
// parts of the kernel in which ways out have been found.

interface Numbers {
  readonly audit: number
  readonly clone: number
  readonly mmap: number
  /** shmget, memfd_create. */
  readonly shared: readonly number[]
  readonly refused: readonly number[]
}

/** The same number everywhere. */
const clone3 = 435
// io_uring_setup, _enter, _register; open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, quotactl_fd
const newCalls = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 443]

// In both lists: acct, add_key, bpf, clock_adjtime, clock_settime, delete_module, finit_module, init_module, kexec_file_load,
// kexec_load, keyctl, mount, name_to_handle_at, open_by_handle_at, perf_event_open, pivot_root, process_vm_readv,
// process_vm_writev, quotactl, reboot, request_key, setdomainname, sethostname, setns, settimeofday, swapoff, swapon, syslog,
// umount2, unshare, userfaultfd, vhangup, chroot; on x64 also iopl, ioperm, modify_ldt, lookup_dcookie.
const architectures: Readonly<Record<string, Numbers>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    mmap: 9,
    shared: [29, 319],
    refused: [
      163, 248, 321, 305, 227, 176, 313, 175, 320, 246, 250, 165, 303, 304, 298, 155, 310, 311, 179, 169, 249, 171, 170,
      308, 164, 168, 167, 103, 166, 272, 323, 153, 161, 172, 173, 154, 212,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    mmap: 222,
    shared: [194, 279],
    refused: [
      89, 217, 280, 266, 112, 106, 273, 105, 294, 104, 219, 40, 264, 265, 241, 41, 270, 271, 60, 142, 218, 162, 161,
      268, 170, 225, 224, 116, 39, 97, 282, 58, 51,
    ],
  },
}

const load = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfSet = 0x45
const answer = 0x06

const allow = 0x7fff0000
const refuse = 0x00050001 // EPERM
const noMemory = 0x0005000c // ENOMEM
const unknown = 0x00050026 // ENOSYS: a C library then tries the older call, whose flags can be seen

/** Every flag of clone that makes a namespace: time, mount, cgroup, uts, ipc, user, pid, net. */
const namespaces = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
/** Calls of the x32 interface carry this bit. */
const x32 = 0x40000000

/** memfd_secret. */
const secretMemory = 447
const mapShared = 0x01
const mapAnonymous = 0x20

/** The filter for this processor; undefined: it has none yet. `unnamedMemory`: shared memory without a file may be had. */
export function seccompFilter({
  processor = arch(),
  unnamedMemory,
}: {
  readonly processor?: string
  readonly unnamedMemory: boolean
}): Uint8Array | undefined {
  const numbers = architectures[processor]
  if (numbers === undefined || endianness() !== 'LE') return undefined
  const refused = [...numbers.refused, ...newCalls]
  const program: Order[] = [
    [load, 0, 0, 4], // which interface the call uses
    [jumpIfEqual, 1, 0, numbers.audit],
    [answer, 0, 0, refuse],
    [load, 0, 0, 0], // its number
    [jumpIfAtLeast, 0, 1, x32],
    [answer, 0, 0, refuse],
    [jumpIfEqual, 0, 1, clone3],
    [answer, 0, 0, unknown],
    ...refused.flatMap((number): Order[] => [
      [jumpIfEqual, 0, 1, number],
      [answer, 0, 0, refuse],
    ]),
    ...(unnamedMemory ? [] : withoutUnnamedMemory(numbers)),
    [jumpIfEqual, 0, 3, numbers.clone],
    [load, 0, 0, 16], // its flags
    [jumpIfSet, 0, 1, namespaces],
    [answer, 0, 0, refuse],
    [answer, 0, 0, allow],
  ]
  const bytes = Buffer.alloc(program.length * 8)
  for (const [i, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, i * 8)
    bytes.writeUInt8(ifTrue, i * 8 + 2)
    bytes.writeUInt8(ifFalse, i * 8 + 3)
    bytes.writeUInt32LE(value, i * 8 + 4)
  }
  return bytes
}

type Order = [code: number, ifTrue: number, ifFalse: number, value: number]

// The number of the call is loaded, before and after.
function withoutUnnamedMemory({ mmap, shared }: Numbers): Order[] {
  return [
    ...[...shared, secretMemory].flatMap((number): Order[] => [
      [jumpIfEqual, 0, 1, number],
      [answer, 0, 0, noMemory],
    ]),
    [jumpIfEqual, 0, 5, mmap],
    [load, 0, 0, 40], // its flags
    [jumpIfSet, 0, 2, mapShared],
    [jumpIfSet, 0, 1, mapAnonymous],
    [answer, 0, 0, noMemory],
    [load, 0, 0, 0],
  ]
}
