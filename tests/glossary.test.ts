import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Term {
  readonly term: string
  readonly meaning: string
  /** Words, each a list of lower-case parts, that exported names may not use. */
  readonly banned: readonly (readonly string[])[]
}

function readGlossary(text: string): Term[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| -|^\| term /.test(line))
  return rows.map((row) => {
    const [term = '', meaning = '', not = ''] = row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim())
    const banned = not.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim().split(' ')]))
    return { term, meaning, banned }
  })
}

/** Names that a file exports where it declares them. */
function exportedNames(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  return source.statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return []
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
    }
    const { name } = statement as { name?: ts.Node } // declarations of functions, classes, interfaces and types
    return name !== undefined && ts.isIdentifier(name) ? [name.text] : []
  })
}

function partsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((part) => part.toLowerCase())
}

/** Banned words that a name uses, as the glossary writes them. */
function bannedIn(name: string, glossary: readonly Term[]): string[] {
  const parts = partsOf(name)
  return glossary.flatMap(({ banned }) =>
    banned
      .filter((words) => parts.some((_, at) => words.every((word, i) => parts[at + i] === word)))
      .map((words) => words.join(' ')),
  )
}

describe('docs/glossary.md', () => {
  const glossary = readGlossary(readFileSync(join(root, 'docs/glossary.md'), 'utf8'))

  it('has a line for each of about 50 terms, each term once (REPO-10)', () => {
    expect(glossary.length).toBeGreaterThanOrEqual(40)
    expect(new Set(glossary.map(({ term }) => term)).size).toBe(glossary.length)
    expect(glossary.filter(({ meaning }) => meaning === '')).toEqual([])
  })

  it('finds a banned word at any place of a name (REPO-10)', () => {
    expect(bannedIn('tellStep', glossary)).toEqual(['tell'])
    expect(bannedIn('createLooks', glossary)).toEqual(['looks'])
    expect(bannedIn('letGoOfWeights', glossary)).toEqual(['let go'])
    expect(bannedIn('lookupTable', glossary)).toEqual([])
    expect(bannedIn('storyTeller', glossary)).toEqual([])
  })

  it('holds for every exported name (REPO-10)', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const offenders = files.flatMap((file) =>
      exportedNames(file, readFileSync(join(root, 'src', file), 'utf8')).flatMap((name) =>
        bannedIn(name, glossary).map((word) => `src/${file}: ${name} (${word})`),
      ),
    )
    expect(offenders).toEqual([])
  })
})
