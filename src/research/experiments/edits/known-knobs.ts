// What an optimiser may turn: literals of a program, or with a catalogue, what it says of an experiment file.
import type { CandidateFiles, EditCatalog, KnobSpec } from '../../../contracts/index.ts'
import { findKnobs } from '../../propose/code/knobs.ts'
import { documentEdits } from './index.ts'

export interface Turnable {
  readonly space?: Readonly<Record<string, KnobSpec>> | undefined
  readonly catalog?: EditCatalog | undefined
}

/** The knobs of a candidate, and what they may be. */
export function knobsOf(files: CandidateFiles, { space = {}, catalog }: Turnable): ReturnType<typeof findKnobs> {
  return catalog === undefined ? findKnobs(files, space) : { knobs: documentEdits.readKnobs(files, catalog), space }
}
