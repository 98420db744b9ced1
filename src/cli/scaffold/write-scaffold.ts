// Files of new projects and experiments, from the templates that come with evsys, put into a folder without ever replacing one.
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EvsysError, fileError, systemCode } from '../../kernel/index.ts'

export const templates = fileURLToPath(new URL('../../../templates', import.meta.url))

/** One file to write. An `optional` one that is there already says nothing about whose project it is. */
export interface ScaffoldFile {
  readonly path: string
  readonly text: string
  readonly optional?: boolean | undefined
}

/** Path of the experiment that a new project begins with. */
export const quickstartPath = 'experiments/quickstart/config.yaml'

/** All files of a new project: `validate --deep` passes on the first try. `schema` is that of the experiment file, for editors. */
export async function projectFiles(schema: unknown): Promise<ScaffoldFile[]> {
  const bundled = (...paths: string[]) => readTemplates('project', paths)
  return [
    { path: '.evsys/.gitignore', text: '*\n', optional: true },
    { path: '.evsys/schema/experiment.json', text: `${JSON.stringify(schema, null, 2)}\n`, optional: true },
    ...(await bundled('AGENTS.md')),
    // Makes the plugin files modules for editors and for Node; evsys itself needs no package.json.
    { path: 'package.json', text: '{\n  "private": true,\n  "type": "module"\n}\n', optional: true },
    ...(await bundled('data/train.jsonl', 'data/val/tasks.jsonl', 'data/val/metadata.yaml')),
    ...(await bundled('data/test/tasks.jsonl', 'data/test/metadata.yaml')),
    ...(await bundled('src/plugins/intent-match.ts', quickstartPath)),
  ]
}

/** Files of the experiment `slug`, relative to its folder. */
export async function experimentFiles(slug: string): Promise<ScaffoldFile[]> {
  const files = await readTemplates('experiment', ['config.yaml', 'run.ts', 'README.md'])
  return files.map(({ path, text }) => ({ path, text: text.replace('SLUG', slug) }))
}

async function readTemplates(folder: string, paths: readonly string[]): Promise<ScaffoldFile[]> {
  const read = async (path: string) => ({ path, text: await readFile(join(templates, folder, path), 'utf8') })
  return await Promise.all(paths.map(read))
}

/** The paths among `files` that something stands at already. */
export async function existingPaths(dir: string, files: readonly ScaffoldFile[]): Promise<string[]> {
  const found = await Promise.all(files.map(async ({ path }) => ((await stands(join(dir, path))) ? [path] : [])))
  return found.flat()
}

/** Writes every file that is not there yet. `kept`: those that were there before and are untouched. */
export async function writeScaffold(dir: string, files: readonly ScaffoldFile[]) {
  const created: string[] = []
  const kept: string[] = []
  for (const { path, text } of files) {
    const target = join(dir, path)
    try {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, text, { flag: 'wx' }) // never through a link, never over what came in between
      created.push(path)
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST' || !(await stands(target))) throw fileError('write', target, cause)
      kept.push(path)
    }
  }
  return { created, kept }
}

/** Makes a folder, which the process that makes it owns: of two at the same time one gets the error that it exists. */
export async function claimFolder(folder: string, fix: string): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(folder)
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST' || !(await stands(folder))) throw fileError('make', folder, cause)
    throw new EvsysError('PROJECT_EXISTS', `${folder} exists already`, { fix })
  }
}

/** Whether anything stands at a path, a broken link included. */
async function stands(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw fileError('inspect', path, cause)
  }
}
