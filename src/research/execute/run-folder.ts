// A fresh folder for one run: the candidate's files with the API beside them, an empty place for what it leaves, and the
// files of the sandboxes. Nothing in it was there before, so nothing stale can be read.
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CandidateFiles, TaskProgram } from '../../contracts/index.ts'
import { removeFolder } from './remove-folder.ts'

export interface RunFolder extends AsyncDisposable {
  readonly path: string
  /** Candidate and API. */
  readonly code: string
  /** EVSYS_OUT. */
  readonly out: string
  /** State of the sandbox of one phase; a phase has its own, so that nothing is handed on but EVSYS_OUT. */
  state(phase: string): string
}

/** `files` have been checked: their paths stay inside. */
export async function makeRunFolder(
  workDir: string,
  files: CandidateFiles,
  program: TaskProgram,
  keep: boolean,
): Promise<RunFolder> {
  mkdirSync(workDir, { recursive: true })
  const path = await mkdtemp(join(workDir, 'evsys-run-'))
  const [code, out] = [join(path, 'code'), join(path, 'out')]
  mkdirSync(out, { mode: 0o755 })
  mkdirSync(code, { mode: 0o755 })
  for (const [name, text] of [...Object.entries(files), ...Object.entries(program.api)]) {
    const file = join(code, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
    writeFileSync(file, text, { mode: 0o644 })
  }
  return {
    path,
    code,
    out,
    state: (phase) => join(path, phase),
    async [Symbol.asyncDispose]() {
      if (!keep) await removeFolder(path)
    },
  }
}
