// Statistics of claims: pure functions of numbers, without dependency, safe in a browser. Chance comes in as an argument.

export {
  type AnytimeEvidence,
  type AnytimeEvidenceOptions,
  anytimeEvidence,
  scaleFreeEvidence,
} from './anytime-evidence.ts'
export {
  type BootstrapOptions,
  type BootstrapResult,
  bootstrap,
  type CrossedBootstrapOptions,
  crossedBootstrap,
} from './bootstrap.ts'
export type { EffectError, SeedError, VarianceComponents } from './crossed-anova.ts'
export {
  type ArmComparison,
  type ArmJudgement,
  type ArmsJudgement,
  type Confirmation,
  confirmWinner,
  judgeArms,
  type Winner,
} from './judge-arms.ts'
export { type Interval, type Moments, meanOf, moments } from './moments.ts'
export { benjaminiHochberg, holm } from './multiple-comparisons.ts'
export { normalCdf, normalQuantile } from './normal-distribution.ts'
export type { ArmScores, Cell, SeedId } from './pair-scores.ts'
export { comparePaired, type PairedComparison, type PairedComparisonOptions } from './paired-comparison.ts'
export { type Noise, type NoiseOptions, pooledNoise } from './pooled-noise.ts'
export {
  bernoulliDifferenceSd,
  type DetectableOptions,
  type PairsNeededOptions,
  type PowerOptions,
  pairsNeeded,
  power,
  smallestDetectableEffect,
  usualPower,
} from './power.ts'
export { clopperPearson, passAtK, passHatK, wilson } from './proportions.ts'
export {
  adaptiveRule,
  decideRace,
  decideRaceAt,
  type RaceDecision,
  type RaceRule,
  type RaceSeeds,
  racePresets,
  updateTypicalGain,
} from './race.ts'
export {
  type EffectPrior,
  effectPrior,
  expectedFalseKeeps,
  type IdeaMixture,
  ideaMixture,
  type MeasuredEffect,
  type ShrunkEffect,
  shrink,
  weighEffect,
} from './shrinkage.ts'
export { type SignFlipOptions, type SignFlipResult, signFlip } from './sign-flip.ts'
export { pairedTInterval, type TInterval, tCdf, tInterval, tQuantile, tTail, welchTInterval } from './student-t.ts'
export { type ClaimVerdict, type Judgement, type VerdictReason, verdictOf } from './verdict.ts'
