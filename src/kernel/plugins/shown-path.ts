// Paths as people type them: relative to the folder they work in where the file lies below it.
import { isAbsolute, relative, sep } from 'node:path'
import type { Location } from '../../contracts/index.ts'

/** A path relative to the working folder, or absolute where it lies elsewhere. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file)
  return path === '' || path.startsWith(`..${sep}`) || path === '..' || isAbsolute(path) ? file : path
}

/** The same with the path of its place shortened. */
export function shownPaths<P extends { where?: Location | undefined }>(problem: P): P {
  const { where } = problem
  return where === undefined || !isAbsolute(where.file)
    ? problem
    : { ...problem, where: { ...where, file: shownPath(where.file) } }
}
