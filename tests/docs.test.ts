import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runMain } from './cli/run-main.ts'
import { playConsole } from './play-console.ts'
import { pluginGuides } from './plugin-guides.ts'
import { codeBlocks } from './readme.ts'
import { temporaryFolders } from './temporary-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (page: string) => readFileSync(join(root, page), 'utf8')
const folder = temporaryFolders()

const pages = [
  'README.md',
  'AGENTS.md',
  'CONTRIBUTING.md',
  ...['docs', 'examples'].flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${part}/${file}`),
  ),
]

/** What a page links to in this repository, by path. */
function linksOf(page: string): string[] {
  const links = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  const local = links.filter((target) => !/^[a-z]+:/.test(target))
  return local.map((target) => relative(root, join(root, dirname(page), target)))
}

describe.each(pages)('%s', (page) => {
  it('links to files that are there', () => {
    expect(linksOf(page).filter((target) => !existsSync(join(root, target)))).toEqual([])
  })
})

describe('docs', () => {
  const docs = pages.filter((page) => page.startsWith('docs/'))

  it('has every page in a folder, and leads to it from its index (REPO-13)', () => {
    expect(docs.filter((page) => dirname(page) === 'docs').sort()).toEqual([
      'docs/README.md',
      'docs/glossary.md',
      'docs/reliability.md',
    ])
    const reached = new Set(['docs/README.md'])
    for (const page of reached) for (const link of linksOf(page)) if (docs.includes(link)) reached.add(link)
    expect(docs.filter((page) => !reached.has(page))).toEqual([])
  })

  // Pages that are made from schemas and test titles say what those say; 0012 quotes the words that were replaced.
  const written = docs.filter((page) => !/reference\/(?!errors)|glossary|decisions\/0012/.test(page))
  it.each(written)('%s uses the words of the glossary (REPO-13)', (page) => {
    const dialect = /\b(?:told|tells|goes on|went on|gone on|whoever|nobody|let go of|left behind|luck|looks at)\b/gi
    expect(read(page).match(dialect) ?? []).toEqual([])
  })
})

/** A project as `evsys init` makes it. */
async function newProject(): Promise<string> {
  const project = folder()
  expect(await runMain(['init', project])).toMatchObject({ code: 0 })
  return project
}

const pascalCase = (type: string) => type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Validates a text deeply at a place in a project. */
async function validateIn(project: string, file: string, text: string) {
  mkdirSync(dirname(join(project, file)), { recursive: true })
  writeFileSync(join(project, file), text)
  return await runMain(['validate', file, '--deep'], { cwd: project })
}

describe('what the pages show', () => {
  it.each([
    ['README.md', []],
    ['docs/concepts/experiments.md', ['examples/helpdesk/experiment.yaml']],
  ])('%s: its experiment is valid, and so is what it shows for an example (CFG-14)', async (page, examples) => {
    const [whole = '', ...parts] = codeBlocks(read(page), 'yaml')
    expect(parts).toHaveLength(examples.length)
    const project = await newProject()
    expect(await validateIn(project, 'experiment.yaml', whole)).toMatchObject({ code: 0 })
    for (const [i, example] of examples.entries()) {
      const text = `extends: ${join(root, example)}\n${parts[i]}`
      expect(await validateIn(project, 'experiment.yaml', text)).toMatchObject({ code: 0 })
    }
  })

  it('the README names every command, and its flags are those of the command line (USE-319)', () => {
    const help = read('tests/cli/golden/help.txt').split('Commands:')[1] ?? ''
    const commands = [...help.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name = '']) => name)
    expect(commands.length).toBeGreaterThan(20)
    const words = [...read('README.md').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
    const isNamed = (name: string) => words.some((code) => code.replace(/^evsys /, '').split(' ')[0] === name)
    expect(commands.filter((name) => name !== 'help' && !isNamed(name))).toEqual([])
    const flags = words.filter((code) => code.startsWith('--') && !/[= ]/.test(code))
    expect(flags.length).toBeGreaterThan(3)
    const allHelp = ['help.txt', 'help-run.txt'].map((file) => read(`tests/cli/golden/${file}`)).join('\n')
    expect(flags.filter((flag) => !allHelp.includes(flag))).toEqual([])
  })

  it('the experiment of the README has ten lines', () => {
    expect(codeBlocks(read('README.md'), 'yaml')[0]?.trimEnd().split('\n')).toHaveLength(10)
  })

  it('call only functions that users can import (USE-314)', () => {
    const namesIn = (file: string) =>
      [...read(file).matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
        list.split(',').flatMap(
          (entry) =>
            entry
              .trim()
              .split(/\s+as\s+/)
              .at(-1) ?? [],
        ),
      )
    const rooms = readdirSync(join(root, 'src')).filter((name) => existsSync(join(root, 'src', name, 'index.ts')))
    const entries = ['src/index.ts', 'src/plugin.ts', 'src/testing.ts', 'src/tinker/index.ts', 'src/testing/index.ts']
    const open = new Set(entries.flatMap(namesIn))
    const closed = new Set(rooms.flatMap((room) => namesIn(`src/${room}/index.ts`)).filter((name) => !open.has(name)))
    expect(closed.size).toBeGreaterThan(50)
    const blocked = pages.flatMap((page) =>
      codeBlocks(read(page), 'ts').flatMap((block) => {
        const own = new Set([...block.matchAll(/(?:const|function) (\w+)/g)].map(([, name = '']) => name))
        const called = [...block.matchAll(/(?<![.\w])(\w+)\(/g)].map(([, name = '']) => name)
        return called.filter((name) => closed.has(name) && !own.has(name)).map((name) => `${page}: ${name}`)
      }),
    )
    expect(blocked).toEqual([])
  })

  it('docs/guides/write-a-plugin.md: its plugin works in its experiment (KER-3, CFG-14)', async () => {
    const guide = read('docs/guides/write-a-plugin.md')
    const [plugin = ''] = codeBlocks(guide, 'ts')
    const [experiment = ''] = codeBlocks(guide, 'yaml')
    const project = await newProject()
    writeFileSync(join(project, 'src/plugins/shorten.ts'), plugin)
    const file = 'experiments/short-queries/config.yaml'
    expect(await validateIn(project, file, experiment)).toMatchObject({ code: 0, stderr: '' })
    const wrong = await validateIn(project, file, experiment.replace('max_chars', 'max_char'))
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.stderr).toMatch(/config\.yaml:7:\d+ {2}PLUGIN_PARAMS/)
  })

  it('docs/guides/plugins: every page shows a plugin of its type, a test and its use (REPO-12)', async () => {
    const { runs } = await import('../src/testing/run-plugin.ts')
    const guides = pluginGuides()
    expect(guides.map(({ type }) => type).sort()).toEqual(Object.keys(runs).sort())
    for (const { type, text, files } of guides) {
      const [plugin, test] = ['src/plugins/', 'tests/'].map((folder) =>
        Object.keys(files).find((path) => path.startsWith(folder)),
      )
      const define = type === 'algorithm' ? 'extendAlgorithm(' : `define${pascalCase(type)}(`
      expect(files[plugin ?? ''], type).toContain(define)
      expect(files[test ?? ''], type).toContain("from 'evsys/testing'")
      expect(text, type).toMatch(/^```yaml$|^evsys research run .*--(proposer|strategy|keep-rule)|`data_store:`/m)
    }
  })

  it('docs/guides/run-from-code.md: its program is the one that new-experiment writes (CLI-21)', async () => {
    const project = await newProject()
    await runMain(['new-experiment', 'x', '--date', '20260131', '--project', project])
    const written = readFileSync(join(project, 'experiments/20260131-x/run.ts'), 'utf8')
    expect(codeBlocks(read('docs/guides/run-from-code.md'), 'ts')).toEqual([written])
  })

  it('docs/start/README.md: every command prints what the page says, and it trains (CLI-1, MOD-33)', async () => {
    await playConsole(read('docs/start/README.md'), folder())
  }, 600_000)
})
