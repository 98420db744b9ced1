// Worlds of known truth for the bench of intervals: two arms answer the same tasks, each after several seeds of training. How good an arm is
// on a task comes from the task, from what the arm makes of it, and from the seed. The truth is the mean over endless tasks and seeds; with
// one seed, over endless tasks, for the model of that seed. Half of the experiments have arms that are equally good.

const answers = 4
/** How frequent the classes of macro-F1 are, unless `openWorlds` is given others. */
const usualClasses = [0.4, 0.3, 0.2, 0.1]
let classes = usualClasses
/** Two of a hundred answers of a near-deterministic model are drawn again for each seed. */
const redrawn = 0.02

/**
 * @typedef {{ name: string, metric: string, range?: [number, number], level: [number, number], taskSd: number, ownSd: number,
 *   seedSd: number, kind: 'share' | 'fixed' | 'graded' | 'classes' }} WorldSpec
 */

/** @type {WorldSpec[]} */
const specs = [
  {
    name: 'share',
    metric: 'pass@1',
    range: [0, 1],
    level: [-1, 2.5],
    taskSd: 1.5,
    ownSd: 0.7,
    seedSd: 0.4,
    kind: 'share',
  },
  {
    name: 'share, quiet seeds',
    metric: 'pass@1',
    range: [0, 1],
    level: [-1, 2.5],
    taskSd: 1.5,
    ownSd: 0.7,
    seedSd: 0.05,
    kind: 'share',
  },
  {
    name: 'share, near-deterministic',
    metric: 'pass@1',
    range: [0, 1],
    level: [0, 3],
    taskSd: 1.5,
    ownSd: 0.5,
    seedSd: 0,
    kind: 'fixed',
  },
  { name: 'continuous', metric: 'mean_reward', level: [-1, 2], taskSd: 1, ownSd: 0.5, seedSd: 0.2, kind: 'graded' },
  {
    name: 'macro-F1',
    metric: 'macro_f1',
    range: [0, 1],
    level: [0, 2.5],
    taskSd: 1,
    ownSd: 0.5,
    seedSd: 0.2,
    kind: 'classes',
  },
]

/**
 * `series` 1 is what is reported; methods are chosen on other series.
 *
 * @param {typeof import('../../src/kernel/index.ts')} kernel
 * @param {typeof import('../../src/evaluate/scorer/task-scores.ts')} scorer
 * @param {number} [series]
 * @param {readonly number[]} [shares]
 */
export function openWorlds({ keyedRandom }, { taskScores }, series = 1, shares = usualClasses) {
  classes = [...shares]
  return specs.map((spec) => ({
    name: spec.name,
    /** @param {{ tasks: number, seeds: number, experiment: number }} cell */
    draw({ tasks, seeds, experiment }) {
      const random = keyedRandom(series, spec.name, tasks, seeds, experiment)
      const isNull = experiment % 2 === 0
      const [low, high] = spec.level
      const level = low + (high - low) * random.float()
      const gain = isNull ? 0 : random.float()
      const tasks_T = Array.from({ length: tasks }, () => spec.taskSd * random.normal())
      const classes_T = tasks_T.map(() => pickClass(random.float()))
      const arms = { old: level, new: level + gain }
      const drawn = Object.entries(arms).map(([arm, own]) => {
        const { luck_S, rewards_S_T } = drawArm({ spec, level: own, tasks_T, classes_T, seeds, random })
        const model = { ...spec, level: own, luck: seeds === 1 ? (luck_S[0] ?? 0) : undefined }
        return { arm, rewards_S_T, truth: truthOf(model) }
      })
      const runs = drawn.flatMap(({ arm, rewards_S_T }) =>
        rewards_S_T.map((rewards_T, seed) => ({
          run: { id: `${arm}-${seed}`, arm, seed, status: 'completed', attempt: 1, metrics: {} },
          evals: [evaluation(spec, rewards_T, experiment < checked ? taskScores : undefined)],
        })),
      )
      const truth = Object.fromEntries(drawn.map((each) => [each.arm, each.truth]))
      return {
        isNull,
        truth: { old: truth.old ?? Number.NaN, new: truth.new ?? Number.NaN },
        runs: /** @type {import('../../src/record/evidence/weigh-evidence.ts').RecordedRun[]} */ (
          /** @type {unknown} */ (runs)
        ),
        plan: planOf(spec, seeds),
      }
    },
  }))
}

/** @param {{ spec: WorldSpec, level: number, tasks_T: number[], classes_T: number[], seeds: number, random: import('../../src/contracts/index.ts').Random }} options */
function drawArm({ spec, level, tasks_T, classes_T, seeds, random }) {
  const own_T = tasks_T.map((task) => task + spec.ownSd * random.normal())
  const fixed_T = tasks_T.map(() => random.float())
  const luck_S = Array.from({ length: seeds }, () => spec.seedSd * random.normal())
  const rewards_S_T = luck_S.map((luck) =>
    own_T.map((own, t) => {
      const odds = level + luck + own
      if (spec.kind === 'graded') return sigmoid(odds + cellSd * random.normal())
      const chance = spec.kind === 'fixed' && random.float() >= redrawn ? (fixed_T[t] ?? 0) : random.float()
      const isRight = chance < sigmoid(odds)
      if (spec.kind !== 'classes') return Number(isRight)
      // The reward of a classifier says what was asked and what was answered: metrics see no more of a task.
      const expected = classes_T[t] ?? 0
      return expected * answers + (isRight ? expected : (expected + 1 + random.int(answers - 1)) % answers)
    }),
  )
  return { luck_S, rewards_S_T }
}

const cellSd = 0.8
/** Of so many experiments of each cell the values by task are held against the product's, which takes n computations for n tasks. */
const checked = 2

/** @param {number} chance */
function pickClass(chance) {
  const ends = classes.map((_, i) => classes.slice(0, i + 1).reduce((sum, share) => sum + share, 0))
  return Math.max(
    0,
    ends.findIndex((end) => end > chance),
  )
}

/** @param {number} odds */
function sigmoid(odds) {
  return 1 / (1 + Math.exp(-odds))
}

/**
 * The mean of sigmoid(level + sd z) over z, by a fine sum; of macro-F1 the F1 of each class from the expected shares.
 * @param {Omit<WorldSpec, 'level'> & { level: number, luck: number | undefined }} model
 */
function truthOf({ kind, level, luck, taskSd, ownSd, seedSd }) {
  const at = (/** @type {number} */ own) => {
    const sd = Math.hypot(taskSd, ownSd, kind === 'graded' ? cellSd : 0)
    return kind === 'classes' ? expectedF1(right(own, sd)) : right(own, sd)
  }
  return luck === undefined ? meanOver((z) => at(level + seedSd * z)) : at(level + luck)
}

/** @param {number} level @param {number} sd */
function right(level, sd) {
  return meanOver((z) => sigmoid(level + sd * z))
}

/** @param {(z: number) => number} of */
function meanOver(of) {
  let [sum, weight] = [0, 0]
  for (let i = -20; i <= 20; i++) {
    const z = i / 4
    const density = Math.exp((-z * z) / 2)
    sum += density * of(z)
    weight += density
  }
  return sum / weight
}

/** Macro-F1 of endless tasks, with wrong answers spread evenly over the other classes. @param {number} share */
function expectedF1(share) {
  const f1 = classes.map((own) => {
    const predicted = own * share + ((1 - own) * (1 - share)) / (answers - 1)
    return (2 * own * share) / (own + predicted)
  })
  return f1.reduce((sum, each) => sum + each, 0) / f1.length
}

/** How often each class was asked and each answer given. @param {readonly number[]} codes */
function countsOf(codes) {
  const counts = new Array(answers * answers).fill(0)
  for (const code of codes) counts[code]++
  return counts
}

/** @param {readonly number[]} counts */
function f1Of(counts) {
  let [sum, present] = [0, 0]
  for (let own = 0; own < answers; own++) {
    let size = 0
    for (let other = 0; other < answers; other++) {
      size += (counts[own * answers + other] ?? 0) + (counts[other * answers + own] ?? 0)
    }
    if (size === 0) continue
    present++
    sum += (2 * (counts[own * answers + own] ?? 0)) / size
  }
  return sum / present
}

/** @param {readonly (readonly number[])[]} rewards */
function macroF1(rewards) {
  return f1Of(countsOf(rewards.map(([code = 0]) => code)))
}

/** The jackknife of `taskScores`: tasks with one question and answer have one value. @param {readonly number[]} codes */
function jackknife(codes) {
  const counts = countsOf(codes)
  const total = f1Of(counts)
  const values = counts.map((n, code) => (n === 0 ? Number.NaN : f1Of(counts.with(code, n - 1))))
  const middle = codes.reduce((sum, code) => sum + (values[code] ?? 0), 0) / codes.length
  const parts = [codes, codes.filter((_, t) => t % 2 === 0), codes.filter((_, t) => t % 2 === 1)]
  if (parts.every((part) => Math.abs(shareRight(part) - f1Of(countsOf(part))) <= 1e-9)) {
    return codes.map((code) => Number(isRightCode(code)))
  }
  return codes.map((code) => total + (codes.length - 1) * (middle - (values[code] ?? 0)))
}

/** @param {number} code */
function isRightCode(code) {
  return Math.floor(code / answers) === code % answers
}

/** @param {readonly number[]} codes */
function shareRight(codes) {
  return codes.filter(isRightCode).length / codes.length
}

/**
 * @param {readonly string[]} names
 * @param {readonly number[]} codes
 * @param {typeof import('../../src/evaluate/scorer/task-scores.ts').taskScores | undefined} taskScores
 */
function valuesByTask(names, codes, taskScores) {
  const values = jackknife(codes)
  const macro_f1 = Object.fromEntries(names.map((name, t) => [name, values[t] ?? Number.NaN]))
  if (taskScores === undefined) return { macro_f1 }
  const own = { name: 'macro_f1', direction: /** @type {const} */ ('max'), compute: macroF1 }
  const blank = { usage: codes.map(() => []), answers: codes.map(() => []) }
  const found = taskScores(
    [own],
    names,
    codes.map((code) => [code]),
    blank,
  )
  const isEqual = names.every((name) => Math.abs(Number(found.macro_f1?.[name]) - (macro_f1[name] ?? 0)) < 1e-9)
  if (!isEqual) throw new Error('the jackknife of the bench is not that of the product')
  return found
}

/**
 * @param {WorldSpec} spec
 * @param {readonly number[]} rewards_T
 * @param {typeof import('../../src/evaluate/scorer/task-scores.ts').taskScores | undefined} taskScores
 */
function evaluation({ metric, kind, range }, rewards_T, taskScores) {
  const names = rewards_T.map((_, t) => `task ${t}`)
  const rewards = Object.fromEntries(names.map((name, t) => [name, [rewards_T[t] ?? 0]]))
  const isClasses = kind === 'classes'
  const value = isClasses
    ? f1Of(countsOf(rewards_T))
    : rewards_T.reduce((sum, each) => sum + each, 0) / rewards_T.length
  return {
    benchmark: 'val',
    split: 'val',
    metrics: { [metric]: value },
    nTasks: rewards_T.length,
    nInfraFailed: 0,
    scorerHash: 'h',
    rewards,
    byTask: isClasses ? valuesByTask(names, rewards_T, taskScores) : undefined,
    thin: isClasses ? thinOf(rewards_T) : undefined,
    ranges: range === undefined ? undefined : { [metric]: range },
  }
}

/** The rarest class where it has too few tasks, as the product says it of declared labels. @param {readonly number[]} codes */
function thinOf(codes) {
  const sizes = classes.map((_, own) => codes.filter((code) => Math.floor(code / answers) === own).length)
  const tasks = Math.min(...sizes)
  return tasks < fewestTasks ? { macro_f1: { label: String(sizes.indexOf(tasks)), tasks } } : undefined
}

/** As in src/contracts. */
const fewestTasks = 3

/** @param {WorldSpec} spec @param {number} seeds */
function planOf({ metric }, seeds) {
  const judged = { benchmark: 'val', metric, direction: 'max' }
  const arms = ['old', 'new'].map((name) => ({ name, params: {}, seeds: Array.from({ length: seeds }, (_, s) => s) }))
  const pairs = [{ treatment: 'new', baseline: 'old' }]
  return /** @type {import('../../src/contracts/index.ts').RecordedPlan} */ (
    /** @type {unknown} */ ({
      experiment: { metadata: { benchmark: [] } },
      config_hash: '0',
      arms,
      runs: [],
      objective: judged,
      claim: { ...judged, pairs, min_effect: 0, confidence: 0.9 },
    })
  )
}
