// What the loop over experiments needs of edits: pure functions of a document and a catalogue, no file is read and no plugin loaded.
import type {
  AttemptFailure,
  CandidateFiles,
  EditCatalog,
  Knobs,
  PluginSchemas,
  ResearchBlock,
} from '../../../contracts/index.ts'

/**
 * A candidate is a map of files: the document (`catalog.document`, YAML with one run, no `extends` and no `matrix`, its parts at the
 * root or under `run`) and plugin files beside it.
 */
export interface DocumentEdits {
  /** What may be changed: the block's `space` and `transforms`, and what the schemas of the plugins in use declare, less what is off limits. */
  deriveCatalog(input: {
    readonly files: CandidateFiles
    readonly document: string
    readonly block: ResearchBlock
    /** JSON Schema of the params of a plugin by type and kind, as `evsys schema TYPE KIND` prints it; undefined: not known. */
    readonly schemaOf: PluginSchemas
  }): {
    readonly catalog: EditCatalog
    readonly problems: readonly { path: readonly (string | number)[]; message: string; fix?: string | undefined }[]
  }
  /**
   * The knobs of a document, every one of the catalogue: what it says, else its default. One that has no effect now (`when`) has
   * its default too, so that equal documents have equal knobs and all points have all coordinates.
   */
  readKnobs(files: CandidateFiles, catalog: EditCatalog): Knobs
  /** The document with other values; comments and layout of the rest stay. Turning to what it already has changes nothing. */
  turnKnobs(
    files: CandidateFiles,
    turned: Knobs,
    catalog: EditCatalog,
  ): { readonly files: CandidateFiles } | { readonly problems: string[] }
  /** What a candidate changed that no candidate may: benchmarks, verifiers, metrics, splits, seeds, budget, `research`, and paths off limits. */
  forbiddenChanges(input: {
    readonly before: CandidateFiles
    readonly after: CandidateFiles
    readonly document: string
    readonly offLimits: readonly string[]
    /** Plugin files that may be written; absent: those of `research.scope` in the document. */
    readonly scope?: readonly string[] | undefined
  }): readonly AttemptFailure[]
  /** The document as it means: equal for equal meaning, whatever its layout, order of keys and comments. */
  canonicalDocument(text: string): unknown
}
