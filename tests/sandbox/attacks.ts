// What hostile code tries. A script that succeeds in something it must not says HARM; whatever it finds of the machine outside
// holds the canary. `after` looks at the machine when the command is over.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { ExecResult, ExecSpec, Level } from '../../src/contracts/index.ts'
import { processesWith } from '../processes-with.ts'

/** What is at stake. */
export interface World {
  readonly level: Level
  /** Stands in files, variables and arguments outside. */
  readonly canary: string
  readonly secretFile: string
  readonly fileName: string
  readonly siblingFolder: string
  /** The writable and the read-only mount of the attacker, outside. */
  readonly app: string
  readonly readOnly: string
  /** A process outside. */
  readonly victim: number
  readonly port: number
  readonly socketName: string
  /** In the arguments of what an attack leaves behind. */
  readonly tag: string
}

export interface Attack {
  readonly name: string
  script(world: World): string
  readonly limits?: Partial<ExecSpec['limits']> | undefined
  /** What harm was done; undefined: none. */
  after?(result: ExecResult, world: World): string | undefined
}

const MB = 2 ** 20
const hits =
  (...limits: (keyof ExecSpec['limits'])[]) =>
  ({ limitHit, exitCode }: ExecResult) =>
    limitHit !== undefined && limits.includes(limitHit) ? undefined : `ended with ${exitCode}, limit ${limitHit}`
const fails = ({ exitCode }: ExecResult) => (exitCode === 0 ? 'it went on as if nothing were limited' : undefined)
/** Says HARM if any of the commands succeeds. */
const allFail = (...commands: string[]) =>
  commands.map((each) => `(${each}) >/dev/null 2>&1 && echo "HARM ${each.replaceAll('"', '')}"`).join('\n')
const perl = (code: string, tag = '') => `perl -e '${code}' ${tag}`
const leaves = (_: ExecResult, { tag }: World) => (processesWith(tag).length > 0 ? 'a process is left' : undefined)

export const attacks: readonly Attack[] = [
  { name: 'reads a file of the host by its path', script: ({ secretFile }) => `cat ${secretFile}; true` },
  {
    name: 'searches every folder',
    script: ({ fileName }) =>
      `find / -name '${fileName}' 2>/dev/null | sed 's/^/HARM /'; cat /home/*/* /root/* /root/.* 2>/dev/null; true`,
  },
  {
    name: 'reads the state of another sandbox',
    script: ({ siblingFolder }) => `ls -R ${siblingFolder}; cat ${siblingFolder}/*; true`,
  },
  {
    name: 'reads processes of the host',
    script: () =>
      'cat /proc/*/environ /proc/*/cmdline /proc/*/root/etc/hostname 2>/dev/null | tr "\\0" "\\n" | grep -v "^/bin/sh"; true',
  },
  {
    name: 'reads the environment of its parents',
    script: () => 'env; cat /proc/1/environ /proc/2/environ /proc/$PPID/environ 2>/dev/null; true',
  },
  {
    name: 'uses files that its parents left open',
    script: () =>
      'for f in /proc/$$/fd/*; do case $(readlink $f) in socket:*|pipe:*|/dev/null|/proc/*) ;; *) [ "${f##*/}" -gt 2 ] && [ "${f##*/}" -ne 10 ] && echo HARM $(readlink $f);; esac; done; true',
  },
  {
    name: 'kills a process of the host by its number',
    script: ({ victim }) => allFail(`kill -9 ${victim}`, `kill -CONT ${victim}`),
  },
  { name: 'kills everything it can', script: () => 'kill -9 -1; kill -TERM 1; true' },
  {
    name: 'fork bomb',
    script: () => 'b() { b | b & }; b; while :; do :; done',
    limits: { timeoutMs: 700, processes: 24 },
    after: fails,
  },
  {
    name: 'many processes',
    script: () =>
      perl(
        '$n=0; while ($n < 200) { $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } $n++ } print "HARM $n\\n" if $n > 40',
      ),
    limits: { processes: 24 },
  },
  {
    name: 'memory bomb',
    script: () => `exec ${perl('push @a, "x" x 1e7 while 1')}`,
    limits: { memoryBytes: 96 * MB, timeoutMs: 8000 },
    after: fails,
  },
  {
    name: 'memory bomb of many processes',
    script: () =>
      perl(
        // All of it at one time, however late each gets its turn.
        'pipe R, W; for (1..12) { if (!fork) { $a = "x" x 3e7; syswrite W, "x"; sleep 60; exit 0 } } close W; for (1..12) { sysread(R, $b, 1) or exit 1 } select undef, undef, undef, 3; kill 9, -1',
      ),
    limits: { memoryBytes: 128 * MB, timeoutMs: 20_000 },
    after: fails,
  },
  {
    name: 'shared memory without a name',
    script: () =>
      `exec ${perl('$r = syscall(9, 0, 400_000_000, 3, 33, -1, 0); die if $r < 0; exec "python3", "-c", "import mmap, time; m = mmap.mmap(-1, 400000000); [m.write(bytes(1000000)) for _ in range(400)]; time.sleep(3)"')}`,
    limits: { memoryBytes: 96 * MB, timeoutMs: 8000 },
    after: fails,
  },
  {
    name: 'memory in a file without a name',
    script: () =>
      `exec python3 -c "import os, time; files = [os.memfd_create(str(i)) for i in range(20)]; [os.write(f, bytes(1000000)) for f in files for _ in range(20)]; time.sleep(3)"`,
    limits: { memoryBytes: 96 * MB, timeoutMs: 8000 },
    after: fails,
  },
  {
    name: 'memory in segments of System V',
    script: () =>
      // 20 segments of 20 MB, written and detached: they stay without a process that holds them.
      `exec ${perl('for (1..20) { $id = shmget(0, 2e7, 0600); exit 1 if !defined $id; shmwrite($id, "x" x 2e7, 0, 2e7) or exit 1 } select undef, undef, undef, 3')}`,
    limits: { memoryBytes: 96 * MB, timeoutMs: 8000 },
    after: fails,
  },
  {
    name: 'fills the disk with one file',
    script: () => 'exec head -c 300000000 /dev/zero > /app/big',
    limits: { diskBytes: 8 * MB },
    after: (result) => hits('diskBytes')(result),
  },
  {
    name: 'fills the disk with many files',
    script: () => perl('for ($i = 0;; $i++) { open F, ">", "/app/f$i"; print F "x" x 1e6; close F }'),
    limits: { diskBytes: 16 * MB, timeoutMs: 8000 },
    after: hits('diskBytes'),
  },
  {
    name: 'fills the disk with files that have no name',
    script: () =>
      perl(
        'for ($i = 0; $i < 400; $i++) { open my $f, ">", "/app/n"; unlink "/app/n"; print $f "x" x 1e6; $f->flush; push @k, $f } sleep 60',
      ),
    limits: { diskBytes: 16 * MB, timeoutMs: 8000 },
    after: hits('diskBytes'),
  },
  {
    name: 'fills the memory disk',
    script: () => 'exec head -c 300000000 /dev/zero > /dev/shm/big',
    limits: { diskBytes: 8 * MB },
    after: hits('diskBytes'),
  },
  {
    name: 'connects to a server of the host',
    script: ({ port }) =>
      perl(
        `use IO::Socket::INET; print "HARM" if IO::Socket::INET->new(PeerAddr => "127.0.0.1:${port}", Timeout => 2)`,
      ),
  },
  {
    name: 'connects to an abstract socket of the host',
    script: ({ socketName }) =>
      perl(`use Socket; socket S, AF_UNIX, SOCK_STREAM, 0; print "HARM" if connect S, sockaddr_un("\\0${socketName}")`),
  },
  {
    name: 'looks up a name and reaches the network',
    script: () =>
      `${allFail('getent hosts example.com')}\n${perl('use IO::Socket::INET; $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "8.8.8.8:53"); print "HARM" if $s && $s->send("x")')}`,
  },
  {
    name: 'mounts',
    script: () =>
      allFail(
        'mount -t tmpfs x /mnt',
        'umount /usr',
        'umount -l /proc',
        'mount -o remount,rw /usr',
        'mount -o remount,rw,bind /etc',
        'mount -t proc p /mnt',
        'mount -t sysfs s /mnt',
        'mount --bind /app /usr',
      ),
  },
  {
    name: 'leaves its root',
    script: ({ secretFile }) =>
      `${perl('mkdir "/tmp/x"; chroot "/tmp/x" and print "HARM chroot"; chdir ".." for 1..20; chroot "."')}; ${allFail('pivot_root /tmp /tmp')}; cat /proc/1/root${secretFile} /proc/self/root${secretFile} /proc/1/cwd${secretFile} 2>/dev/null; true`,
  },
  {
    name: 'makes namespaces of its own',
    script: () =>
      allFail(
        'unshare -Ur true',
        'unshare -m true',
        'unshare -n true',
        'unshare -p -f true',
        'unshare -Urm mount -t tmpfs x /mnt',
      ),
  },
  {
    name: 'enters namespaces of its parents',
    script: ({ victim }) =>
      allFail('nsenter -t 1 -m true', 'nsenter -t 1 -U true', 'nsenter -t 1 -n true', `nsenter -t ${victim} -a true`),
  },
  {
    name: 'follows links out of its mount',
    script: ({ secretFile }) =>
      `ln -s ${secretFile} /app/link; ln -s / /app/rootlink; cat /app/link /app/rootlink${secretFile} 2>/dev/null; ln ${secretFile} /app/hard 2>/dev/null; cat /app/hard 2>/dev/null; true`,
  },
  {
    name: 'writes to a read-only mount',
    script: () =>
      allFail(
        'echo forged > /ro/note',
        'rm -f /ro/note',
        'mv /ro/note /ro/other',
        'touch /ro/new',
        'chmod 777 /ro/note',
        'ln -sf /app /ro',
      ),
    after: (_, { readOnly }) =>
      readFileSync(join(readOnly, 'note'), 'utf8') === 'kept' && readdirSync(readOnly).length === 1
        ? undefined
        : 'the mount has changed',
  },
  {
    name: 'replaces a mount point',
    script: () => allFail('mv /ro /ro2', 'rm -rf /ro', 'rmdir /app', 'mv /deep /deep2', 'mv /usr /usr2', 'rm -rf /bin'),
  },
  {
    name: 'writes to the userland',
    script: () =>
      allFail(
        'touch /usr/HARM',
        'touch /etc/HARM',
        'touch /bin/HARM',
        'echo x >> /etc/passwd',
        'echo x > /etc/ld.so.preload',
      ),
    after: () =>
      ['/usr/HARM', '/etc/HARM', '/bin/HARM'].some((path) => existsSync(path)) ? 'the host has a new file' : undefined,
  },
  {
    name: 'floods its output',
    script: () => 'head -c 20000000 /dev/zero | tr "\\0" x; head -c 2000000 /dev/zero >&2',
    limits: { outputBytes: 50_000 },
    after: ({ truncated, stdout, stderr }) =>
      truncated && stdout.length < 51_000 && stderr.length < 51_000 && stdout.includes('[output truncated: ')
        ? undefined
        : 'all of it was kept',
  },
  { name: 'never returns', script: () => 'while :; do :; done', limits: { timeoutMs: 300 }, after: hits('timeoutMs') },
  {
    name: 'ignores every signal',
    script: ({ tag }) => perl('$SIG{$_} = "IGNORE" for keys %SIG; sleep 60 while 1', tag),
    limits: { timeoutMs: 300 },
    after: (result, world) => hits('timeoutMs')(result) ?? leaves(result, world),
  },
  {
    name: 'leaves a daemon',
    script: ({ tag }) => `setsid ${perl('sleep 600', tag)} >/dev/null 2>&1 & exit 0`,
    after: leaves,
  },
  {
    name: 'leaves a daemon by two forks',
    script: ({ tag }) =>
      perl(
        'exit if fork; use POSIX; POSIX::setsid(); exit if fork; close STDIN; close STDOUT; close STDERR; sleep 600',
        tag,
      ),
    after: leaves,
  },
  {
    name: 'writes after its end',
    script: ({ tag }) =>
      `${perl('open F, ">>", "/app/late"; F->autoflush; print F "x" while select(undef, undef, undef, 0.001) || 1', tag)} & exit 0`,
    after: leaves,
  },
  {
    name: 'traces a process of the host',
    script: ({ victim }) =>
      perl(
        `print "HARM" if syscall(101, 16, ${victim}, 0, 0) == 0; print "HARM" if open F, "<", "/proc/${victim}/mem"`,
      ),
  },
  {
    name: 'traces the first process',
    script: ({ level }) =>
      level === 'chroot'
        ? perl('print "HARM" if syscall(101, 16, 1, 0, 0) == 0; print "HARM" if open F, "+<", "/proc/1/mem"')
        : 'true',
  },
  {
    name: 'makes and reads devices',
    script: () =>
      allFail(
        'mknod /app/disk b 8 0',
        'mknod /dev/kmem c 1 2',
        'cat /dev/vda',
        'cat /dev/sda',
        'cat /dev/mem',
        'cat /dev/kmsg',
        'head -c 1 /dev/fuse',
        'head -c 1 /dev/kvm',
      ),
  },
  { name: 'uses /sys', script: () => allFail('ls /sys/kernel', 'ls /sys/fs/cgroup', 'mkdir /sys/fs/cgroup/x') },
  {
    name: 'joins control groups',
    script: () => allFail('mount -t cgroup2 x /mnt', 'mount -t cgroup -o memory x /mnt'),
  },
  // Opened to write and left unwritten: if it should ever succeed, the machine stays as it is.
  {
    name: 'opens settings of the kernel',
    script: () =>
      allFail(
        ': >> /proc/sys/kernel/core_pattern',
        ': >> /proc/sys/vm/drop_caches',
        ': >> /proc/sysrq-trigger',
        ': >> /proc/sys/user/max_user_namespaces',
        ': >> /proc/sys/fs/suid_dumpable',
      ),
  },
  {
    name: 'reads keys',
    script: ({ canary }) =>
      `cat /proc/keys 2>/dev/null | grep . && echo HARM; ${perl(`$t = "user"; $d = "${canary}-key"; $r = syscall(248, $t, $d, "x", 1, -3); print "HARM stored" if "'$EVSYS_LEVEL'" eq "bubblewrap" && $r > 0`)}`,
    after: (_, { canary }) =>
      readFileSync('/proc/keys', 'utf8').includes(`${canary}-key`) ? 'a key of the host' : undefined,
  },
  {
    name: 'dumps core',
    script: () => 'cd /app; ulimit -c unlimited 2>/dev/null; sh -c "kill -SEGV \\$\\$"; true',
    after: (_, { app }) => (readdirSync(app).some((name) => name.startsWith('core')) ? 'a core file' : undefined),
  },
  {
    name: 'raises its limits',
    script: () =>
      allFail(
        'ulimit -c unlimited',
        'ulimit -n 100000',
        'prlimit --pid $$ --nproc=100000',
        'prlimit --pid $$ --fsize=unlimited',
        'echo -1000 > /proc/self/oom_score_adj',
        'nice -n -10 true 2>&1 | grep -q . && false || [ $(nice -n -10 nice) -lt 0 ]',
      ),
  },
  {
    name: 'gains rights',
    script: () =>
      'grep -q "NoNewPrivs:.1" /proc/self/status || echo HARM; grep -q "CapBnd:.000000000000000b" /proc/self/status || echo HARM; cp /bin/cat /app/c; chmod u+s /app/c; true',
  },
  {
    name: 'changes clock and name of the machine',
    script: () => allFail('date -s 2001-01-01', 'hostname evil'),
    after: () => (hostname() === 'evil' || new Date().getFullYear() < 2010 ? 'the host has changed' : undefined),
  },
  {
    name: 'types into a terminal',
    script: () => perl('$c = "x"; print "HARM" if ioctl STDIN, 0x5412, $c; print "HARM" if open T, "+<", "/dev/tty"'),
  },
]
