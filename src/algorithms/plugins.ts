// The built-in plugins of this room. A process that lists them loads what declares them and no more of the room.
import { distill } from './distill/distill.ts'
import { opd } from './distill/opd.ts'
import { sdft } from './distill/sdft.ts'
import { dpo } from './dpo.ts'
import { promptSearch } from './prompt-search.ts'
import { rejectionSft } from './rejection-sft.ts'
import { rl } from './rl/rl.ts'
import { sft } from './sft.ts'
import { combo, scoreOnly } from './without-batches.ts'

export const algorithmPlugins = [
  scoreOnly,
  sft,
  dpo,
  rejectionSft,
  rl,
  sdft,
  opd,
  distill,
  combo,
  promptSearch,
] as const
