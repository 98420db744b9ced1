// As root: what a command is shown is first bound into a folder that its account can reach, in a mount namespace of our own,
// since projects often lie in folders that are closed to others. Then we become that account for good.
import { existsSync, statSync } from 'node:fs'
import type { Bind, Layout } from '../bind.ts'
import { sandboxFailed } from '../sandbox-error.ts'
import { systemFolders } from '../system-binds.ts'
import { fstab } from './fstab.ts'
import type { Launch } from './launch.ts'

const places = ['/mnt', '/media', '/srv', '/opt', '/run', '/home']

const stage = `set -e; s=$1 u=$2 g=$3 d=$4 f=$5; shift 5
mount -t tmpfs -o size=64k,mode=755,nosuid,nodev evsys "$s"; cd "$s"; mkdir $d; for x in $f; do : > "$x"; done
mount -a -T /proc/self/fd/7; cd /
exec setpriv --reuid "$u" --regid "$g" --clear-groups -- "$@"`

export interface Staged {
  /** The layout with sources that the account reaches. */
  readonly layout: Layout
  /** The table of what is bound there; absent: nothing is. */
  readonly table?: string
  /** The command line that does it and goes on with `argv`. */
  enter(argv: readonly string[]): string[]
}

export function staged({ account, layout, state }: Launch): Staged {
  if (account === undefined) return { layout, enter: (argv) => [...argv] }
  const sources = [layout.root, state.dev, ...layout.binds.map(({ source }) => source)]
  const place = places.find((each) => existsSync(each) && !sources.some((source) => isWithin(each, source)))
  if (place === undefined) throw sandboxFailed(`no folder is free to show files in: ${places.join(', ')}`)
  const names = new Map<string, string>()
  const reach = (source: string): string => {
    if ([...systemFolders, '/etc'].some((folder) => isWithin(folder, source))) return source
    const above = [...names].find(([known]) => isWithin(known, source))
    if (above !== undefined) return `${place}/${above[1]}${source.slice(above[0].length)}`
    const name = `${statSync(source).isDirectory() ? 'd' : 'f'}${names.size}`
    names.set(source, name)
    return `${place}/${name}`
  }
  const root = reach(layout.root)
  const binds = layout.binds.map((bind): Bind => ({ ...bind, source: reach(bind.source) }))
  const ofKind = (kind: string) => [...names.values()].filter((name) => name.startsWith(kind)).join(' ')
  const [uid, gid] = [String(account.uid), String(account.gid)]
  return {
    layout: { root, binds },
    table: fstab([...names].map(([source, name]) => ({ source, target: `${place}/${name}`, options: ['rbind'] }))),
    enter: (argv) => [
      'unshare',
      '--mount',
      '--propagation',
      'private',
      '/bin/sh',
      '-c',
      stage,
      'sh',
      place,
      uid,
      gid,
      ofKind('d'),
      ofKind('f'),
      ...argv,
    ],
  }
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
