// The shape of the sources in numbers: files, lines, small files with one importer, conditional spreads, by room. Decision 0012
// holds what they came to.   npx jiti scripts/count-structure.ts [--list]
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { edgesOf, isTest, roomOf } from '../tests/import-graph.ts'

const isListing = process.argv.includes('--list')
const tracked = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' }).split('\n')
const files = tracked.filter((file) => /^src\/.*\.ts$/.test(file) && !isTest(file))
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

const importers = new Map<string, Set<string>>()
for (const [file, text] of texts) {
  for (const { to } of edgesOf(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))) {
    importers.set(to, (importers.get(to) ?? new Set()).add(file))
  }
}

const lines = (file: string) => (texts.get(file) ?? '').split('\n').length - 1
const spread = /\.\.\.\(\s*(?:[^()]|\([^()]*\))*?\?\s*(?:\{\}\s*:\s*\{|\{[^{}]*\}\s*:\s*\{\}\s*\))/g
const spreadsOf = (file: string) => texts.get(file)?.match(spread)?.length ?? 0

const isSmall = (file: string) => {
  const [only, ...more] = importers.get(file) ?? []
  return lines(file) < 60 && only !== undefined && more.length === 0 && roomOf(only) === roomOf(file)
}

const rooms = [...new Set(files.map((file) => roomOf(file) ?? '(entries)'))].sort()
const sum = (of: readonly string[], count: (file: string) => number) =>
  of.reduce((total, file) => total + count(file), 0)

const rows = [...rooms, 'all'].map((room) => {
  const own = files.filter((file) => room === 'all' || (roomOf(file) ?? '(entries)') === room)
  return {
    room,
    files: own.length,
    lines: sum(own, lines),
    small: own.filter(isSmall).length,
    spreads: sum(own, spreadsOf),
  }
})
console.table(rows)
if (isListing) {
  for (const file of files.filter(isSmall)) console.log(`small: ${file} <- ${[...(importers.get(file) ?? [])]}`)
  for (const file of files.filter((each) => spreadsOf(each) > 0)) console.log(`spreads: ${spreadsOf(file)} ${file}`)
}
