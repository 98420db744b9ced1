// Which module a name comes from, behind the indexes of rooms. A process that imports one function of a room through its index would
// otherwise load the whole room with it, and every schema that it imports in turn; a schema is made when its module is loaded.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'

/** @typedef {{ file: string, name: string }} Origin */

const linkOfNames = /^(import|export) \{([^}]*)\} from (['"])(\.[^'"]*)\3/gm
const declaration = /^export (?:default )?(?:abstract )?(?:async )?(?:const|let|class|function\*?) (\w+)/gm
const exportOfNames = /^export \{([^}]*)\}(?: from (['"])([^'"]*)\2)?/gm
const awaited = /\bconst \{([^}]*)\} = await import\((['"])(\.[^'"]*\/index\.[jt]s)\2\)/g
const chained = /\bimport\((['"])(\.[^'"]*\/index\.[jt]s)\1\)\.then\(\(\{([^}]*)\}\)/g
const exportOfAll = /^export \* from (['"])(\.[^'"]*)\1/gm

/**
 * Makes the imports of modules from files of their own package lead to where each name is made.
 */
export function directImports() {
  /** @type {Map<string, Map<string, Origin>>} */
  const known = new Map()
  /** Modules that are made for one dynamic import each: they export what it takes, each from where it is made. */
  const made = /** @type {Map<string, string>} */ (new Map())

  /** @param {string} file @returns {Map<string, Origin>} */
  function exportsOf(file) {
    const before = known.get(file)
    if (before !== undefined) return before
    /** @type {Map<string, Origin>} */
    const found = new Map()
    known.set(file, found)
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of text.matchAll(declaration)) found.set(name, { file, name })
    for (const [, names = '', , from] of text.matchAll(exportOfNames)) {
      const source = from?.startsWith('.') ? join(dirname(file), from) : undefined
      for (const { name, as } of namesIn(names)) {
        const behind = source === undefined ? undefined : exportsOf(source).get(name)
        found.set(as, behind ?? (source === undefined ? { file, name: as } : { file: source, name }))
      }
    }
    for (const [, , from = ''] of text.matchAll(exportOfAll))
      for (const [name, origin] of exportsOf(join(dirname(file), from))) if (!found.has(name)) found.set(name, origin)
    return found
  }

  /**
   * The files that make the names between braces, with these names.
   * @param {string} names @param {string} from @param {string} file
   */
  function originsOf(names, from, file) {
    const source = join(dirname(file), from)
    /** @type {Map<string, string[]>} */
    const byFile = new Map()
    for (const { name, as } of namesIn(names)) {
      const origin = exportsOf(source).get(name)
      if (origin === undefined) throw new Error(`${file} imports ${name} of ${from}, which does not export it`)
      byFile.set(origin.file, [...(byFile.get(origin.file) ?? []), `${origin.name} as ${as}`])
    }
    return [...byFile].map(([made, each]) => ({ file: made, names: each.join(', ') }))
  }

  return {
    name: 'direct-imports',
    resolveId: (/** @type {string} */ id) => (made.has(id) ? id : null),
    load: (/** @type {string} */ id) => made.get(id) ?? null,
    /** @param {string} code @param {string} id */
    transform(code, id) {
      if (!isAbsolute(id) || id.includes('/node_modules/')) return null
      // On one line: places in what is linked stay where they were.
      const direct = code.replaceAll(linkOfNames, (/** @type {string[]} */ ...[, word, names = '', quote, from = '']) =>
        originsOf(names, from, id)
          .map(({ file, names: each }) => `${word} { ${each} } from ${quote}${specifier(dirname(id), file)}${quote}`)
          .join('; '),
      )
      const later = (/** @type {string} */ from, /** @type {string} */ names) => {
        const bare = namesIn(names.replaceAll(':', ' as ')).map(({ name }) => name)
        const origins = originsOf(bare.join(), from, id)
        const [only] = origins
        if (
          only !== undefined &&
          origins.length === 1 &&
          bare.every((name) => only.names.includes(`${name} as ${name}`))
        )
          return `import(${JSON.stringify(specifier(dirname(id), only.file))})`
        const text = origins
          .map(({ file, names: each }) => `export { ${each} } from ${JSON.stringify(file)}`)
          .join('\n')
        const name = `together/${bare.join('-').slice(0, 60)}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
        made.set(name, text)
        return `import(${JSON.stringify(name)})`
      }
      return {
        code: direct
          .replaceAll(
            awaited,
            (/** @type {string[]} */ ...[, names = '', , from = '']) =>
              `const {${names}} = await ${later(from, names)}`,
          )
          .replaceAll(
            chained,
            (/** @type {string[]} */ ...[, , from = '', names = '']) => `${later(from, names)}.then(({${names}})`,
          ),
        map: null,
      }
    },
  }
}

/** @param {string} folder @param {string} file */
function specifier(folder, file) {
  const path = relative(folder, file).split(sep).join('/')
  return path.startsWith('.') ? path : `./${path}`
}

/**
 * The names between the braces of an import or export, types apart.
 * @param {string} text
 */
function namesIn(text) {
  const parts = text.replaceAll(/\/\/.*$/gm, '').split(',')
  return parts.flatMap((part) => {
    const words = part.trim().split(/\s+/)
    const [name = ''] = words
    return name === '' || name === 'type' ? [] : [{ name, as: words[2] ?? name }]
  })
}
