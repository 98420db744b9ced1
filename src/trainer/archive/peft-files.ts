import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportAdapter, exportMerged } from '../../engine/index.ts'
import type { ArchiveFiles } from './archive-files.ts'

/** Checkpoints of real models: an adapter as PEFT reads it, or the whole model where all of it was trained. */
export function peftFiles(folders: Readonly<Record<string, string>>): ArchiveFiles {
  return async (bytes, { base_model, lora }) => {
    const parent = await mkdtemp(join(tmpdir(), 'evsys-archive-'))
    const folder = join(parent, 'files')
    try {
      const baseFolder = folders[base_model] ?? base_model
      const { signal } = new AbortController() // ends with its writing, which is short
      if (lora === undefined) await exportMerged({ checkpoint: bytes, baseFolder, folder, signal })
      else await exportAdapter(bytes, folder)
      const names = (await readdir(folder)).sort()
      return await Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })))
    } finally {
      await rm(parent, { recursive: true, force: true })
    }
  }
}
