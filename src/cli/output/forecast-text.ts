// What a plan can find out and what it will take, as people read it before they spend anything.
import type { PlanForecast, PlanPower } from '../../lab/index.ts'
import { type Fact, labelledLines } from './labelled-lines.ts'
import type { Output } from './output.ts'
import { countText, durationText, numberText, usdText } from './quantity-text.ts'

type Style = Pick<Output, 'colors' | 'width'>

/** Power and cost; without `power`, what the plan takes. */
export function forecastText(
  forecast: PlanForecast,
  style: Style,
  power?: { readonly of: PlanPower | undefined },
): string {
  return labelledLines([...(power === undefined ? [] : powerFacts(power.of, forecast)), ...costFacts(forecast)], style)
}

function powerFacts(power: PlanPower | undefined, forecast: PlanForecast): Fact[] {
  if (power === undefined) return [['power', 'none: no objective and no claim, so nothing is compared']]
  const { pairs, detects, noise, benchmark, metric, minEffect, confidence } = power
  const what = `${benchmark}.${metric}`
  if (noise === undefined) {
    return [
      ['noise', `unknown: no earlier experiment was judged by ${what}`],
      ['power', `unknown; ${oneSeedText(pairs)}`],
    ]
  }
  const { sd, basis } = noise
  const source =
    basis.from === 'history'
      ? `measured in ${countText(basis.experiments, 'earlier experiment')} (${countText(basis.df, 'degree')} of freedom)`
      : `assumed from the chance in ${countText(basis.tasks, 'right-or-wrong task')}${basis.samples > 1 ? ` with ${basis.samples} answers each` : ''}; training adds its own, and no earlier experiment was judged by ${what}`
  const seen =
    detects === null
      ? oneSeedText(pairs)
      : detects > (power.largest ?? Number.POSITIVE_INFINITY)
        ? `${countText(pairs, 'pair')} of runs show no effect that ${metric} can have: it would have to be ${numberText(detects)}`
        : `${countText(pairs, 'pair')} of runs show an effect of ${numberText(detects)} or more in four of five cases (${numberText(confidence * 100)} % interval${minEffect > 0 ? `, more than ${numberText(minEffect)} is claimed` : ''})`
  return [
    ['noise', `a paired difference on ${what} moves by ${numberText(sd)} (standard deviation), ${source}`],
    ['power', seen],
    ...neededFacts(power, forecast),
  ]
}

function oneSeedText(pairs: number): string {
  return pairs <= 1
    ? 'one seed says nothing about chance: set n_repeats to 3 or more'
    : countText(pairs, 'pair of runs')
}

function neededFacts({ needed, pairs }: PlanPower, { runs, wallS }: PlanForecast): Fact[] {
  if (needed === null) return []
  const effect = `an effect of ${numberText(needed.effect)}, twice what is claimed,`
  if (needed.pairs === null) return [['needs', `${effect} would take more than 1,000 pairs: add tasks or claim more`]]
  const times = pairs === 0 ? undefined : needed.pairs / pairs
  const cost =
    times === undefined
      ? ''
      : ` (${countText(Math.ceil(runs * times), 'run')}${wallS === null ? '' : `, about ${durationText(wallS * times)}`})`
  return [['needs', `${effect} takes ${countText(needed.pairs, 'pair')} of runs${cost}`]]
}

function costFacts(forecast: PlanForecast): Fact[] {
  const { runs, steps, evals, tokens, wallS, costUsd, maxConcurrent, measuredOn } = forecast
  const basis =
    measuredOn === 0 ? 'no earlier run of this recipe' : `measured on ${countText(measuredOn, 'earlier run')}`
  const amount = [
    countText(runs, 'run'),
    steps === null ? 'as many steps as the data needs' : countText(steps, 'step'),
    ...(evals === null ? [] : [countText(evals, 'evaluation')]),
    ...(tokens === null ? [] : [`about ${countText(tokens, 'token')}`]),
  ]
  const time =
    wallS === null ? `unknown: ${basis}` : `about ${durationText(wallS)}, ${maxConcurrent} at a time; ${basis}`
  return [
    ['work', amount.join(', ')],
    ['time', time],
    ['cost', costUsd === null ? 'unknown: the backend tells none' : `about ${usdText(costUsd)}`],
  ]
}
