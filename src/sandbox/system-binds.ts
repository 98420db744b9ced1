// The userland of this machine as a sandbox shows it: programs and libraries, read-only, and of /etc what programs cannot do
// without. Accounts, hosts and lookup are made up: no process inside learns whose machine this is.
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One path of this machine and where a command sees it; in the order in which they are mounted. */
export interface Bind {
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

/** Everything a command sees as files: a folder that is `/`, and what lies over it. */
export interface Layout {
  readonly root: string
  readonly binds: readonly Bind[]
}

/** Folders of the machine that commands see as they are. A mount below one of them is refused. */
export const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const

/** No secrets, no names of people or machines. */
const sharedSettings = [
  'alternatives',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'perl',
  'python3',
  'python3.11',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
]

const ownSettings = {
  passwd: 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  group: 'root:x:0:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  hostname: 'sandbox\n',
  shells: '/bin/sh\n/bin/bash\n',
}

/** Writes the made-up part of /etc into `folder`, and lists what is bound. */
export function systemBinds(folder: string, network: boolean): Bind[] {
  const binds: Bind[] = []
  for (const path of systemFolders) if (existsSync(path)) binds.push({ source: path, target: path, writable: false })
  const lookup = `passwd: files\ngroup: files\nhosts: files${network ? ' dns' : ''}\n`
  const settings = { ...ownSettings, 'nsswitch.conf': lookup, 'resolv.conf': network ? nameServers() : '' }
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  for (const [name, text] of Object.entries(settings)) writeFileSync(join(folder, name), text, { mode: 0o644 })
  binds.push({ source: folder, target: '/etc', writable: false })
  for (const name of sharedSettings) {
    const source = join('/etc', name)
    if (!existsSync(source)) continue
    const place = join(folder, name)
    mkdirSync(dirname(place), { recursive: true, mode: 0o755 })
    if (!existsSync(place)) placeholder(source, place)
    binds.push({ source, target: source, writable: false })
  }
  return binds
}

// A link to a file is bound as that file.
function placeholder(source: string, place: string): void {
  const isFolder = lstatSync(source).isDirectory()
  if (isFolder) mkdirSync(place, { mode: 0o755 })
  else writeFileSync(place, '', { mode: 0o644 })
}

function nameServers(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8')
  } catch {
    return ''
  }
}

// Paths below the folders of the machine that every sandbox shows, a project in /usr/src for one, with nothing in their place.

/** Binds over those of `paths` that could be seen; `folder` holds the nothing. */
export function hiddenBinds(paths: readonly string[], folder: string): Bind[] {
  const seen = new Set(paths.flatMap(realPath).filter(isOfSystem))
  if (seen.size === 0) return []
  const [emptyFolder, emptyFile] = [join(folder, 'folder'), join(folder, 'file')]
  mkdirSync(emptyFolder, { recursive: true, mode: 0o755 })
  writeFileSync(emptyFile, '', { mode: 0o644 })
  return [...seen].map((target) => ({
    source: statSync(target).isDirectory() ? emptyFolder : emptyFile,
    target,
    writable: false,
  }))
}

function realPath(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return [] // what is not there cannot be seen
  }
}

function isOfSystem(path: string): boolean {
  return systemFolders.some((folder) => path.startsWith(`${folder}/`))
}
