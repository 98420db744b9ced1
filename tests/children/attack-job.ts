// A job of attackers among honest agents: `attack-job PLACE EVERY [NAME]`, where EVERY is 1 for all attackers, 4 for a quarter, and NAME is a
// part of the names of those that are wanted. Prints the report as a line of JSON.
import { runAttackJob } from '../rollout/attackers/attack-job.ts'
import { attackers } from '../rollout/attackers/index.ts'

const [place = '', every = '1', wanted = ''] = process.argv.slice(2)
const chosen = attackers.filter(({ name }, i) => i % Number(every) === 0 && name.includes(wanted))
process.stdout.write(`${JSON.stringify(await runAttackJob(place, chosen))}\n`)
