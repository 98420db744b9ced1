// A table of mounts, as `mount -a` reads it: one program makes them all.
import { readFileSync } from 'node:fs'

export interface TableMount {
  readonly source: string
  readonly target: string
  readonly type?: string
  readonly options: readonly string[]
}

export function fstab(mounts: readonly TableMount[]): string {
  return mounts
    .map(({ source, target, type = 'none', options }) =>
      [escaped(source), escaped(target), type, options.join(','), '0', '0\n'].join(' '),
    )
    .join('')
}

function escaped(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
}

/** Whether programs may not be started from the mount that `path` is on: a bind has to say so again. */
export function isNoExec(path: string): boolean {
  let longest = ''
  let options = ''
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [, , , , point = '', flags = ''] = line.split(' ')
    const isAbove = point !== '' && (path === point || path.startsWith(point === '/' ? '/' : `${point}/`))
    if (isAbove && point.length >= longest.length) [longest, options] = [point, flags]
  }
  return options.split(',').includes('noexec')
}
