// Runs an experiment and prints a line for every item that is stored: args are the file and, to go on with it, `resume`.
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'

const [file = '', mode] = process.argv.slice(2)
const result = await runExperiment(file, {
  resume: mode === 'resume',
  onItem: (row, item) => console.log(`${row.name} ${item.type}`),
})
console.log(`verdict ${result.conclusion?.verdict}`)
