// Makes data/: `node make-data.mjs`. Questions of three desks, each with its own answers; the benchmarks hold out phrases.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const who = ['my brother', 'a friend', 'our team', 'the manager', 'my neighbour', 'her son', 'the new guest', 'my aunt']

/**
 * By desk and answer: phrases to train on, then those that only the benchmark has.
 * @type {Record<string, Record<string, [string[], string[]]>>}
 */
const desks = {
  bank: {
    card_lost: [
      ['the card of {who} is lost', '{who} lost a bank card', 'a bank card is gone, says {who}'],
      ['{who} cannot find the bank card'],
    ],
    open_account: [
      ['{who} wants to open an account', 'open a bank account for {who}', 'a new account for {who}'],
      ['an account should be opened for {who}'],
    ],
    loan: [
      ['{who} asks for a loan', 'a loan for {who} please', 'can {who} borrow money'],
      ['{who} would like to borrow some money'],
    ],
    balance: [
      ['show the balance of {who}', 'how much money has {who}', 'the balance of {who} please'],
      ['what balance does {who} have'],
    ],
  },
  travel: {
    book_flight: [
      ['book a flight for {who}', '{who} wants to fly to the coast', 'a flight for {who} please'],
      ['{who} needs a flight'],
    ],
    cancel_trip: [
      ['cancel the trip of {who}', '{who} does not travel any more', 'the trip of {who} is off'],
      ['{who} has to cancel the trip'],
    ],
    hotel: [
      ['find a hotel for {who}', '{who} needs a room for the night', 'a hotel room for {who}'],
      ['which hotel has a room for {who}'],
    ],
    luggage: [
      ['the luggage of {who} is late', '{who} waits for a suitcase', 'the suitcase of {who} did not arrive'],
      ['{who} has no luggage yet'],
    ],
  },
  kitchen: {
    recipe: [
      ['how does {who} cook this soup', 'a recipe for {who} please', '{who} wants to cook a soup'],
      ['which recipe should {who} cook'],
    ],
    shopping: [
      ['put milk on the list of {who}', '{who} has to buy bread', 'what should {who} buy for dinner'],
      ['bread and milk for the list of {who}'],
    ],
    timer: [
      ['set a timer for {who}', '{who} has to wait ten minutes', 'tell {who} when the cake is done'],
      ['a timer of ten minutes for {who}'],
    ],
    clean_up: [
      ['{who} has to wash the dishes', 'who cleans the kitchen, asks {who}', 'the dishes of {who} are dirty'],
      ['{who} should clean the dishes'],
    ],
  },
}

/** The files by their paths. */
export function makeData() {
  /** @type {Record<string, string>} */
  const files = {}
  for (const [desk, answers] of Object.entries(desks)) {
    const rows = []
    const tasks = []
    for (const [answer, [trained, heldOut]] of Object.entries(answers)) {
      for (const [i, person] of who.entries()) {
        for (const phrase of trained) rows.push({ query: phrase.replace('{who}', person), answer })
        if (i >= 5) continue
        for (const phrase of heldOut) {
          tasks.push({
            task_id: `${answer}-${tasks.length + 1}`,
            instruction: phrase.replace('{who}', person),
            verifier: { kind: 'in_process', fn_name: 'exact_match', expected: answer },
          })
        }
      }
    }
    files[`data/${desk}.jsonl`] = lines(rows)
    files[`data/val-${desk}/tasks.jsonl`] = lines(tasks)
    files[`data/val-${desk}/metadata.yaml`] =
      `name: ${desk}\ndescription: Phrases that no training row has.\nversion: 1\n`
  }
  return files
}

/** @param {readonly object[]} rows */
function lines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(makeData())) {
    const file = join(dirname(fileURLToPath(import.meta.url)), path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
