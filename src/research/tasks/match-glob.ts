// Globs of a task file: `*` and `?` stay within a name, `**` is any number of folders. What names a folder names all in it.

/** Whether a path (relative, with forward slashes) is named by one of the globs. */
export function matchesGlob(path: string, globs: readonly string[]): boolean {
  return globs.some((glob) => compile(glob).test(path))
}

function compile(glob: string): RegExp {
  const clean = glob.replace(/^\.\//, '').replace(/\/+$/, '')
  const source = clean.replace(/\*\*\/|\*\*|\*|\?|[\\^$.+()[\]{}|]/g, (part) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  return new RegExp(`^${source}(?:/.*)?$`, 's')
}
