// What a run in a worker does around its data: keeps rows and tokens in the caches of the project, and writes the preview.
import type { RunAssignment } from '../../contracts/index.ts'
import { createPreviewWriter, rowCacheFolder } from '../../data/index.ts'
import { builtInHash, type OpenRegistry } from '../../kernel/index.ts'
import { cachedRenderer, type TokenSource } from '../train/cached-renderer.ts'
import type { RenderStart } from '../train/render-protocol.ts'
import type { RunData } from '../train/run-context.ts'

export function createRunData(
  { project_dir: projectDir, run_dir, config }: RunAssignment,
  { hashOf: codeHash }: OpenRegistry,
  signal: AbortSignal,
): RunData & Disposable {
  const preview = createPreviewWriter(run_dir)
  const sources: TokenSource[] = []
  const opened: Disposable[] = []
  return {
    projectDir,
    cache: { dir: rowCacheFolder(projectDir), seed: config.seed, codeHash },
    onBatch: preview.batch,
    async onLoaded({ rows, hash, manifest }) {
      await preview.loaded(manifest)
      if (manifest.format !== 'chat_messages') return
      sources.push({ rows: rows.flatMap((row) => ('messages' in row ? [row] : [])), hash })
    },
    async withTokens(renderer, { plugin, backend: { tokenizer, chatTemplate } }) {
      const code = codeHash(plugin)
      const start = code === builtInHash(plugin) ? startOf(config, plugin.kind) : undefined
      const cached = await cachedRenderer(renderer, {
        projectDir,
        sources,
        rendererId: `${plugin.kind} ${code}`,
        tokenizer,
        signal,
        chatTemplate,
        start,
      })
      opened.push(cached)
      return cached
    },
    [Symbol.dispose]() {
      for (const each of opened) each[Symbol.dispose]()
    },
  }
}

// A thread opens the text of a model by its name. What a service calls its tokenizer is known to the backend alone.
function startOf({ backend, model }: RunAssignment['config'], renderer: string): RenderStart | undefined {
  if (backend.kind === 'mock') return { renderer, model: model.name, arch: 'bigram' }
  if (backend.kind !== 'local') return undefined
  return { renderer, model: model.name, ...(backend.params.engine === 'mock' ? { arch: 'bigram' } : {}) }
}
