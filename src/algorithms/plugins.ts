// The built-in plugins of this room.
import { combo } from './combo.ts'
import { distill, opd, sdft } from './distill/index.ts'
import { dpo } from './dpo.ts'
import { promptSearch } from './prompt-search.ts'
import { rejectionSft } from './rejection-sft.ts'
import { rl } from './rl/rl.ts'
import { scoreOnly } from './score-only.ts'
import { sft } from './sft.ts'

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
