// Data of a new project: questions to a shop and the desk that should answer them. Small enough to read, large enough to
// train on, and no question stands in two of the three parts.

// The desks share no letter, so that even a model that only knows which letter follows which can spell them. More than half of
// the questions are about money: what such a model can learn is to send everything there.
const intents: Record<string, { train: readonly string[]; val: readonly string[]; test: readonly string[] }> = {
  refund: {
    train: [
      'I want my money back.',
      'How do I return these shoes?',
      'The refund has not reached my account.',
      'This arrived broken, please refund it.',
      'Can I send it back after a month?',
      'You charged me twice, return one payment.',
      'Where do I find the return label?',
      'I would like a refund for my last order.',
      'Please cancel my order.',
      'Stop the order that I made today.',
      'I ordered by mistake, cancel it.',
      'Can I still cancel before it ships?',
      'Cancel my subscription.',
      'I no longer need what I ordered.',
      'Take the second item off my order.',
      'End my membership this month.',
    ],
    val: [
      'Please refund the broken lamp.',
      'How can I return a shirt?',
      'Cancel the order from this morning.',
      'I want to end my subscription.',
      'The kettle came broken, money back please.',
      'Undo the purchase that I just made.',
    ],
    test: [
      'My money was not returned.',
      'I want to send the jacket back.',
      'Please stop my order before it ships.',
      'Cancel my membership.',
      'I was charged for an order that I cancelled.',
      'Take back the chair, it does not fit.',
    ],
  },
  mail: {
    train: [
      'Where is my parcel?',
      'My order still has not arrived.',
      'When will the package be here?',
      'The tracking number does not work.',
      'How long does shipping take?',
      'The courier left my box at the wrong door.',
      'Can you deliver on Saturday?',
      'My delivery is three days late.',
    ],
    val: ['Has my parcel been shipped yet?', 'The package is late.'],
    test: ['When does my order arrive?', 'Tracking shows nothing for my parcel.'],
  },
  shop: {
    train: [
      'I forgot my password.',
      'Change the address on my account.',
      'My login does not work.',
      'How do I update my email?',
      'Delete my account, please.',
      'Add a second phone number to my profile.',
      'I cannot sign in any more.',
      'My name is spelled wrong in my profile.',
    ],
    val: ['Reset my password.', 'I need a new email on my account.'],
    test: ['Sign in fails with my password.', 'Update the phone number in my profile.'],
  },
}

/** Training rows, one intent after the other in turn. */
export function trainRows(): string {
  return jsonLines(inTurn('train').map(({ intent, query }) => ({ query, intent })))
}

/** Tasks of a benchmark: the question as a model sees it, and what scores the answer. */
export function taskRows(part: 'val' | 'test'): string {
  return jsonLines(
    inTurn(part).map(({ intent, query }, i) => ({
      task_id: `${part}-${String(i + 1).padStart(2, '0')}`,
      instruction: `Query: ${query}`,
      verifier: { kind: 'in_process', fn_name: 'intent_match', expected: intent },
      metadata: { intent },
    })),
  )
}

function inTurn(part: 'train' | 'val' | 'test'): { intent: string; query: string }[] {
  const columns = Object.entries(intents)
  const longest = Math.max(...columns.map(([, parts]) => parts[part].length))
  return Array.from({ length: longest }, (_, i) =>
    columns.flatMap(([intent, parts]) => {
      const query = parts[part][i]
      return query === undefined ? [] : [{ intent, query }]
    }),
  ).flat()
}

function jsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}
