// What the loop over experiments uses of edits: pure functions of documents and catalogues; no file is read and no plugin loaded.
import type { AttemptFailure, CandidateFiles } from '../../../contracts/index.ts'
import { EvsysError, isMapping } from '../../../kernel/index.ts'
import { documentValue } from './apply-edits.ts'
import type { DocumentEdits } from './contract.ts'
import { deriveSpace } from './derive-catalog.ts'
import { readKnobs, turnKnobs } from './knob-values.ts'
import { dataBlocks, getAt, type Mapping, partPath, putAt, recipes, stagesOf } from './places.ts'
import { violations } from './protected.ts'
import { inScope } from './scope.ts'

export { type ApplyOptions, applyEdits, type EditProblem, rewardParams } from './apply-edits.ts'
export { type DerivedSpace, deriveSpace, type KnobOrigin, type SpaceProblem } from './derive-catalog.ts'
export { type DescribedEdit, describeEdits } from './describe-edits.ts'
export { diffEdits } from './diff-edits.ts'
export { isActive, neighbourKnobs, readKnobs, sampleKnobs, settledKnobs, turnKnobs } from './knob-values.ts'
export { type ProtectedPart, protectedHashes, type Violation } from './protected.ts'
export { rewriteYaml } from './rewrite-yaml.ts'
export { inScope, strangePlugins, wrongPattern } from './scope.ts'

export const documentEdits: DocumentEdits = {
  deriveCatalog: ({ files, document, block, schemaOf }) =>
    deriveSpace({ root: documentValue(files, document), document, block, schemaOf }),
  readKnobs,
  turnKnobs,
  forbiddenChanges,
  canonicalDocument,
}

/** What a candidate changed that no candidate may. */
function forbiddenChanges({
  before,
  after,
  document,
  offLimits,
  scope: given,
}: Parameters<DocumentEdits['forbiddenChanges']>[0]): AttemptFailure[] {
  const old = documentValue(before, document)
  const now = readable(after, document)
  if (typeof now === 'string') return [{ class: 'syntax', reason: now }]
  const scope: unknown = given ?? getAt(old, ['research', 'scope'])
  const names = Array.isArray(scope) ? scope.filter((each) => typeof each === 'string') : []
  const strange = changedFiles(before, after).filter((path) => path !== document && !inScope(names, path))
  return [
    ...violations(old, now, offLimits).map(({ part, message }): AttemptFailure => {
      return { class: part === 'off_limits' || part === 'rest' ? 'validation' : 'tamper', reason: message }
    }),
    ...strange.map(
      (path): AttemptFailure => ({ class: 'tamper', reason: `${path} is not in the scope of a candidate` }),
    ),
  ]
}

function readable(files: CandidateFiles, document: string): Mapping | string {
  try {
    return documentValue(files, document)
  } catch (error) {
    if (EvsysError.is(error)) return error.message
    throw error
  }
}

function changedFiles(before: CandidateFiles, after: CandidateFiles): string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return paths.filter((path) => before[path] !== after[path])
}

/** The document as it means. Names and words for people mean nothing to a run. */
function canonicalDocument(text: string): unknown {
  let root = documentValue({ document: text }, 'document')
  const parts = ['data', 'mix', 'model', 'algorithm', 'backend', 'agent', 'environment', 'seed'] as const
  const run: Record<string, unknown> = { ...(isMapping(root.run) ? root.run : {}) }
  for (const part of parts) if (run[part] === undefined && root[part] !== undefined) run[part] = root[part]
  const { name: _name, tags: _tags, ...rest } = run
  root = { ...root, ...Object.fromEntries(parts.map((part) => [part, undefined])), run: rest }
  const stages = stagesOf(root)
  if (stages?.path.length === 2 && stages.path[0] === 'stages') root = { ...root, stages: stages.items }
  if (typeof getAt(root, partPath(root, 'agent')) === 'string') {
    root = putAt(root, partPath(root, 'agent'), { kind: getAt(root, partPath(root, 'agent')) })
  }
  root = withoutEmpty(root, [...partPath(root, 'agent'), 'params'])
  for (const { path } of recipes(root)) root = withoutEmpty(root, [...path, 'params'])
  for (const { path } of dataBlocks(root)) {
    const transforms = getAt(root, [...path, 'transforms'])
    if (!Array.isArray(transforms)) continue
    for (const i of transforms.keys()) root = withoutEmpty(root, [...path, 'transforms', i, 'params'])
    if (transforms.length === 0) root = putAt(root, [...path, 'transforms'], undefined)
  }
  const { hypothesis: _h, notes: _n, tags: _t, ...metadata } = isMapping(root.metadata) ? root.metadata : {}
  const { name: _experiment, description: _d, ...fields } = root
  return JSON.parse(JSON.stringify({ ...fields, metadata }))
}

function withoutEmpty(root: Mapping, path: readonly (string | number)[]): Mapping {
  const value = getAt(root, path)
  return isMapping(value) && Object.keys(value).length === 0 ? putAt(root, path, undefined) : root
}
