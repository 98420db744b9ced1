import { textScorer } from '../shared/text-scorer.mjs'

export default textScorer('val_bpb')
