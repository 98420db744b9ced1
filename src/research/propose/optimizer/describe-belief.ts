// What the optimiser believes, in words: for a model that shares its turns.
import { figure } from '../brief/brief-sections.ts'
import type { KnobModel } from './knob-model.ts'
import { knobsAt } from './knob-space.ts'
import { cell } from './linear-algebra.ts'

const mostLines = 12

/** A few lines; the same model gives the same text. */
export function describeBelief(model: KnobModel): string {
  const { dimensions, base, surrogate, observed, cma } = model
  if (observed.length < 2) return 'The optimiser has seen too little to believe anything yet.'
  const here = surrogate.predict(base).mean
  const effects = dimensions
    .map((dimension, i) => {
      const places =
        dimension.kind === 'line' ? [0, 0.25, 0.5, 0.75, 1] : Array.from({ length: dimension.levels ?? 1 }, (_, k) => k)
      const tried = places.map((place) => {
        const point = base.map((value, k) => (k === i ? place : value))
        const { mean, sd } = surrogate.predict(point)
        return { place, gain: here - mean, sd }
      })
      const best = tried.reduce((a, b) => (b.gain > a.gain ? b : a))
      const value = knobsAt([dimension], [best.place])[dimension.name]
      return { name: dimension.name, ...best, value }
    })
    .sort((a, b) => b.gain - a.gain || (a.name < b.name ? -1 : 1))
    .slice(0, mostLines)
    .map(
      ({ name, gain, sd, value }) =>
        `${name}: best near ${String(value)}, gain ${figure(gain)} give or take ${figure(sd)}`,
    )
  const lines = dimensions.filter(({ kind }) => kind === 'line')
  const shape =
    cma === undefined || cma.generations === 0
      ? []
      : [
          `CMA-ES after ${cma.generations} generations: mean ${Object.entries(knobsAt(lines, cma.mean))
            .slice(0, mostLines)
            .map(([name, value]) => `${name}=${String(value)}`)
            .join(' ')}; step ${figure(cma.step)} of the range; ${strongestPair(
            cma.covariance,
            lines.map(({ name }) => name),
          )}`,
        ]
  const ranOut = model.observations.filter(({ failure }) => failure === 'oom').length
  const border = ranOut === 0 ? [] : [`${ranOut} candidates ran out of memory; larger sizes than theirs are not tried.`]
  return ['One knob at a time, from the base:', ...effects, ...shape, ...border].join('\n')
}

function strongestPair(covariance: number[][], names: readonly string[]): string {
  let best = { a: 0, b: 0, value: 0 }
  for (let a = 0; a < names.length; a++)
    for (let b = 0; b < a; b++) {
      const scale = Math.sqrt(cell(covariance, a, a) * cell(covariance, b, b))
      const value = scale > 0 ? cell(covariance, a, b) / scale : 0
      if (Math.abs(value) > Math.abs(best.value)) best = { a, b, value }
    }
  if (best.value === 0) return 'no two knobs go together'
  return `${names[best.b]} and ${names[best.a]} go together by ${figure(best.value)}`
}
