// The document that a search begins with: one run of the file, as the file writes it. Axes of a matrix become the values of one arm;
// what is about several arms, or about research, is left out. Comments and layout of the rest stay.
import { type Document, isMap, isSeq, parseDocument } from 'yaml'
import type { Plan, PlannedArm } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

/** The text of one arm of a file. Throws where the file has parts that research cannot change one run of. */
export function baselineDocument(file: string, text: string, plan: Plan, arm: PlannedArm): string {
  const doc = parseDocument(text)
  for (const [key, why] of REFUSED) {
    if (doc.has(key)) {
      throw new EvsysError(
        'CONFIG_CONFLICT',
        `${file}: research cannot begin with a file that has \`${key}\`: ${why}`,
        {
          fix: 'write the file of one run, with everything in it.',
        },
      )
    }
  }
  const template = doc.getIn(['matrix', 'base_run'], true) ?? doc.get('base_run', true)
  if (doc.has('matrix')) {
    doc.delete('matrix')
    doc.delete('base_run')
    if (template !== undefined) doc.set('run', template)
    for (const [path, value] of Object.entries(arm.params)) setInRun(doc, path, value)
  }
  const listed = doc.get('runs', true)
  if (isSeq(listed)) {
    const place = plan.arms.findIndex(({ name }) => name === arm.name)
    const own = listed.items[place]
    doc.delete('runs')
    if (own !== undefined) doc.set('run', own)
  }
  for (const path of LEFT_OUT) if (doc.hasIn(path)) doc.deleteIn(path)
  return doc.toString({ lineWidth: 0 })
}

const REFUSED: readonly (readonly [string, string])[] = [
  ['extends', 'what it extends would not be part of a candidate'],
  ['stages', 'a candidate is one run'],
  ['continual', 'a candidate is one run'],
]

const LEFT_OUT = [['research'], ['budget'], ['metadata', 'claim'], ['metadata', 'claims']]

function setInRun(doc: Document, path: string, value: unknown): void {
  const parts = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const at = isMap(doc.get('run')) ? ['run', ...parts] : parts
  // A whole that is an axis takes the place of what stands there.
  doc.setIn(at, typeof value === 'object' && value !== null ? doc.createNode(value, { flow: true }) : value)
}
