// Statistics of claims: pure functions of numbers, without dependency, safe in a browser. Chance comes in as an argument.

export { type AnytimeEvidence, type AnytimeEvidenceOptions, anytimeEvidence } from './anytime-evidence.ts'
export { benjaminiHochberg } from './benjamini-hochberg.ts'
export { type BootstrapOptions, type BootstrapResult, bootstrap } from './bootstrap.ts'
export { clopperPearson } from './clopper-pearson.ts'
export type { VarianceComponents } from './crossed-anova.ts'
export { type CrossedBootstrapOptions, crossedBootstrap } from './crossed-bootstrap.ts'
export type { EffectError, SeedError } from './effect-error.ts'
export { holm } from './holm.ts'
export { type IdeaMixture, ideaMixture, weighEffect } from './idea-mixture.ts'
export type { Interval } from './interval.ts'
export {
  type ArmComparison,
  type ArmJudgement,
  type ArmsJudgement,
  type Confirmation,
  confirmWinner,
  judgeArms,
  type Winner,
} from './judge-arms.ts'
export type { MeasuredEffect, ShrunkEffect } from './measured-effect.ts'
export { type Moments, moments } from './moments.ts'
export { normalCdf, normalQuantile } from './normal-distribution.ts'
export type { ArmScores, Cell, SeedId } from './pair-scores.ts'
export { comparePaired, type PairedComparison, type PairedComparisonOptions } from './paired-comparison.ts'
export { passAtK, passHatK } from './pass-at-k.ts'
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
export { scaleFreeEvidence } from './scale-free-evidence.ts'
export {
  type EffectPrior,
  effectPrior,
  expectedFalseKeeps,
  shrink,
} from './shrinkage.ts'
export { type SignFlipOptions, type SignFlipResult, signFlip } from './sign-flip.ts'
export { tCdf, tQuantile, tTail } from './student-t.ts'
export { pairedTInterval, type TInterval, tInterval, welchTInterval } from './t-interval.ts'
export { type ClaimVerdict, type Judgement, type VerdictReason, verdictOf } from './verdict.ts'
export { wilson } from './wilson.ts'
