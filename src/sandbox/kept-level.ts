// The level that held a process of ours, kept from one start of evsys to the next: trying takes as long as starting a worker. Only what
// worked is kept, for this very machine, user and programs. It is never taken at its word: each process looks from within whether it
// is shut in before it runs anything of others, and one that is not ends, which forgets what was kept.
import { mkdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashOf, writeFileAtomic } from '../kernel/index.ts'
import { toolPath } from './launch.ts'
import { textIn } from './proc-files.ts'

type KeptLevel = 'bubblewrap' | 'chroot'

/** What is asked and answered: a level by name, or the strongest. */
interface Kept {
  readonly choice: KeptLevel | 'auto'
  readonly level: KeptLevel
}

let usedFile: string | undefined

/** The level that worked when everything it depends on was as it is now. */
export function keptLevel(folder: string, choice: Kept['choice']): KeptLevel | undefined {
  try {
    const file = fileIn(folder, choice)
    const { key, level }: { key?: unknown; level?: unknown } = Object(JSON.parse(readFileSync(file, 'utf8')))
    if (key !== machineKey() || (level !== 'bubblewrap' && level !== 'chroot')) return undefined
    if (choice !== 'auto' && choice !== level) return undefined
    usedFile = file
    return level
  } catch {
    return undefined // nothing is kept
  }
}

/** Keeps what was found out by trying. */
export async function keepLevel(folder: string, { choice, level }: Kept): Promise<void> {
  const text = `${JSON.stringify({ key: machineKey(), level })}\n`
  const file = fileIn(folder, choice)
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    await writeFileAtomic(file, text, { sync: false })
  } catch {
    // it is tried again at the next start
  }
}

/** A process could not be shut in as was kept. */
export function forgetLevel(): void {
  if (usedFile !== undefined) rmSync(usedFile, { force: true })
  usedFile = undefined
}

function fileIn(folder: string, choice: Kept['choice']): string {
  return join(folder, 'sandbox', `process-level-${choice}.json`)
}

const programs = ['bwrap', 'unshare', 'mount', 'umount', 'setpriv', 'prlimit', 'pivot_root', 'sh', 'perl', 'ip']
const settings = [
  ...['/proc/sys/kernel/random/boot_id', '/proc/self/uid_map', '/proc/self/gid_map', '/proc/self/limits'],
  ...['/proc/self/attr/current', '/proc/sys/kernel/unprivileged_userns_clone'],
  ...['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '/proc/sys/user/max_user_namespaces'],
  ...['user', 'pid', 'net', 'ipc', 'uts', 'mnt'].map((name) => `/proc/sys/user/max_${name}_namespaces`),
]

/** Of all that decides whether namespaces can be made here, and of the code that makes them. */
function machineKey(): string {
  const rights = textIn('/proc/self/status').match(/^(?:Cap\w+|NoNewPrivs|Seccomp|Groups):.*$/gm)
  const folders = toolPath.split(':')
  return hashOf({
    release: release(),
    user: [process.getuid?.() ?? null, process.getgid?.() ?? null],
    rights: rights ?? [],
    settings: settings.map(textIn),
    spaces: ['user', 'mnt', 'pid'].map((name) => readlinkSync(`/proc/self/ns/${name}`)),
    programs: programs.map((name) => folders.flatMap((folder) => stampOf(join(folder, name))).slice(0, 1)),
    code: stampOf(fileURLToPath(import.meta.url)),
  })
}

function stampOf(path: string): (string | number)[][] {
  try {
    const { mtimeMs, ctimeMs, size, mode, ino } = statSync(path)
    return [[realpathSync(path), mtimeMs, ctimeMs, size, mode, ino]]
  } catch {
    return []
  }
}
