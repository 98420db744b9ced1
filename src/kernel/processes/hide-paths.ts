// Paths that a child process, and whatever it starts, cannot see: folders are empty there, files are empty. The kernel does it:
// the child gets a mount namespace in which something lies over each path, and a user namespace inside the one that owns those
// mounts, so that nothing in it can take them away, enter the namespaces of its parents, or look into their memory.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../evsys-error.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The tools of the system, also where PATH has few of them; the command itself keeps its PATH.
const cover = `uid=$1 gid=$2 n=$3 path=$PATH; shift 3; PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH; inner=$(command -v unshare)
while [ "$n" -gt 0 ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o ro,size=4k,mode=555 evsys "$1" || exit 97
  elif [ -e "$1" ]; then mount --bind /dev/null "$1" || exit 97
  fi
  shift; n=$((n - 1))
done
PATH=$path; exec "$inner" --user --map-user="$uid" --map-group="$gid" "$@"`

const usual = '/usr/bin/unshare'

/** The command that runs `command` where `paths` are hidden. A path that does not exist is left alone. */
export function hidingCommand(paths: readonly string[], command: readonly string[]): string[] {
  if (paths.length === 0) return [...command]
  const ids = [process.getuid?.() ?? 0, process.getgid?.() ?? 0, paths.length].map(String)
  const tool = existsSync(usual) ? usual : 'unshare'
  const outer = [tool, '--user', '--map-root-user', '--mount', '--propagation', 'private']
  return [...outer, '/bin/sh', '-c', cover, 'evsys', ...ids, ...paths, ...command]
}

/** There to end a hang: a busy machine may need many seconds for a first start, and the answer is kept. */
const patienceMs = 60_000

let probed: Promise<string | undefined> | undefined

/** Why this machine cannot hide paths; undefined when it can. Tried once, with a temporary folder. */
export function whyNotHidden(): Promise<string | undefined> {
  probed ??= probe()
  return probed
}

async function probe(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `${process.platform} has no user namespaces`
  const folder = temporaryFolder('seal')
  try {
    await writeFile(join(folder, 'seen'), 'seen')
    const [command = '', ...args] = hidingCommand([folder], ['/bin/sh', '-c', '[ ! -e "$0/seen" ]', folder])
    return await new Promise((resolve) => {
      execFile(command, args, { timeout: patienceMs }, (error, _stdout, stderr) => {
        const [line = ''] = stderr.trim().split('\n')
        resolve(error === null ? undefined : line === '' ? messageOf(error).split('\n')[0] : line)
      })
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
