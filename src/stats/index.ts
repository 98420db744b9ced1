// Statistics of claims: pure functions of numbers, without dependency, safe in a browser. Chance comes in as an argument.

export { betweenBenchmarks, type LabelScores, type MeanDifference, mixParts } from './between-benchmarks.ts'
export { bootstrap, crossedBootstrap } from './bootstrap.ts'
export { compareBetween } from './compare-between.ts'
export { crossedAnova } from './crossed-anova.ts'
export { type CrossedGain, crossedGain, gainInterval, gainTail, shrunkenByTest } from './crossed-gain.ts'
export {
  crossedDetectable,
  crossedPairsNeeded,
  crossedTasksNeeded,
  type DifferenceVariances,
  detectableBySeeds,
} from './crossed-power.ts'
export { judgeArms, oneSidedP } from './judge-arms.ts'
export { type Interval, type Moments, meanOf, moments } from './moments.ts'
export { holm } from './multiple-comparisons.ts'
export { normalCdf, normalQuantile } from './normal-distribution.ts'
export type { ArmScores, Cell } from './pair-scores.ts'
export { comparePaired, type PairedComparison } from './paired-comparison.ts'
export { type Noise, pooledNoise } from './pooled-noise.ts'
export { bernoulliDifferenceSd, pairsNeeded, power, smallestDetectableEffect, usualPower } from './power.ts'
export { clopperPearson, passAtK, passHatK, wilson } from './proportions.ts'
export { adaptiveRule, decideRaceAt, type RaceRule, racePresets, updateTypicalGain } from './race.ts'
export { type ScoreInterval, scoreInterval } from './score-interval.ts'
export {
  type EffectPrior,
  expectedFalseKeeps,
  ideaMixture,
  type MeasuredEffect,
  type ShrunkEffect,
  shrink,
  weighEffect,
} from './shrinkage.ts'
export { signFlip } from './sign-flip.ts'
export { tCdf, tInterval, tQuantile, tTail, welchTInterval } from './student-t.ts'
export { type Judgement, verdictOf } from './verdict.ts'
