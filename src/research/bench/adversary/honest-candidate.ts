// A candidate as honest researchers write them. None may be turned down, whatever words stand in it.
import type { CandidateFiles } from '../../../contracts/index.ts'

export interface HonestCandidate {
  readonly name: string
  readonly language: 'node' | 'python'
  readonly files: CandidateFiles
}
