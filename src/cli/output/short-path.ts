import { isAbsolute, relative, sep } from 'node:path'

/** A path as people write it: relative to the current folder when it lies in it. */
export function shortPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path
  const short = relative(cwd, path)
  return short === '' || short === '..' || short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short
}
