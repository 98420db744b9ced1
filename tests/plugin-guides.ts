// The guides for plugin authors, one page for each type, and the files that they show: a path in code, a colon, a block.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const guides = fileURLToPath(new URL('../docs/guides', import.meta.url))

export interface PluginGuide {
  /** As the registry writes it. */
  readonly type: string
  readonly text: string
  /** Texts by path in a project. */
  readonly files: Readonly<Record<string, string>>
}

export function pluginGuides(): PluginGuide[] {
  const pages = readdirSync(join(guides, 'plugins')).map((name) => ({
    type: basename(name, '.md').replaceAll('-', '_'),
    file: join(guides, 'plugins', name),
  }))
  return [{ type: 'transform', file: join(guides, 'write-a-plugin.md') }, ...pages].map(({ type, file }) => {
    const text = readFileSync(file, 'utf8')
    return { type, text, files: shownFiles(text) }
  })
}

function shownFiles(markdown: string): Record<string, string> {
  const blocks = markdown.matchAll(/^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$/gms)
  return Object.fromEntries(Array.from(blocks, ([, path = '', text = '']) => [path, text]))
}

/** The files of all guides. */
export function guideFiles(): Record<string, string> {
  return Object.assign({}, ...pluginGuides().map(({ files }) => files))
}
