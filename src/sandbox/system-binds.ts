// The userland of this machine as a sandbox shows it: programs and libraries, read-only, and of /etc what programs cannot do
// without. Accounts, hosts and lookup are made up: nobody inside learns who lives here.
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bind } from './bind.ts'

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
