// Data of a new project: questions to a shop and the desk that should answer them. Small enough to read, large enough to
// train on, and no question stands in two of the three parts.

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
      'The shirt is too small, I want to return it.',
      'How long does a refund take?',
      'Please pay back what I was charged.',
      'I returned the lamp, where is my money?',
      'Can I return a gift?',
      'The kettle is broken, give me my money back.',
      'I was charged too much for this order.',
      'Do I get a refund if I send it back today?',
      'My money was not paid back.',
      'I do not like the chair and want to return it.',
      'Refund the second payment, please.',
      'Is it possible to return half of the order?',
    ],
    val: [
      'Please refund the broken lamp.',
      'How can I return a shirt?',
      'I want the money for my order back.',
      'You charged me too much.',
      'The shoes are too small, can I return them?',
      'When do I get my refund?',
      'I sent it back and want my payment returned.',
      'Give me a refund for the gift.',
    ],
    test: [
      'My money was not returned.',
      'I want to send the jacket back.',
      'Please pay me back, the chair is broken.',
      'Can you refund my payment?',
      'I was charged twice for one lamp.',
      'How do I get a return label?',
      'The refund of my order is too small.',
      'I would like to return a kettle.',
    ],
  },
  delivery: {
    train: [
      'Where is my parcel?',
      'My order still has not arrived.',
      'When will the package be here?',
      'The tracking number does not work.',
      'How long does shipping take?',
      'The courier left my box at the wrong door.',
      'Can you deliver on Saturday?',
      'My delivery is three days late.',
      'Has my package been shipped?',
      'The parcel was to come yesterday.',
      'When do you ship to Norway?',
      'The courier did not ring at my door.',
      'Tracking says that my parcel is lost.',
      'Can the package come in the morning?',
      'My box is late again.',
      'Who has my parcel now?',
      'Ship the order to my neighbour, please.',
      'The delivery went to a wrong street.',
      'How fast is your shipping?',
      'Please tell the courier to wait.',
    ],
    val: [
      'Has my parcel been shipped yet?',
      'The package is late.',
      'When will the courier be here?',
      'Can you ship it on Monday?',
      'The tracking of my box shows nothing.',
      'My parcel went to the wrong door.',
      'How long does the delivery take?',
      'The package has not arrived.',
    ],
    test: [
      'When does my parcel arrive?',
      'Tracking shows nothing for my package.',
      'The courier is late.',
      'Do you deliver in the morning?',
      'My box was left at a wrong street.',
      'Has the delivery been lost?',
      'How fast do you ship a parcel?',
      'The package was to arrive on Monday.',
    ],
  },
  account: {
    train: [
      'I forgot my password.',
      'Change the email of my profile.',
      'My login does not work.',
      'How do I update my email?',
      'Delete my profile, please.',
      'Add a second phone number to my profile.',
      'I cannot sign in any more.',
      'My name is spelled wrong in my profile.',
      'Reset my password, please.',
      'I want to log in with another email.',
      'How do I change my password?',
      'The login page says that my email is unknown.',
      'Sign me out on all phones.',
      'I cannot log in with my new phone.',
      'Who can see my profile?',
      'Please close my login.',
      'My password is not accepted.',
      'I would like to update my name.',
      'The sign in code never comes.',
      'Use my new phone number to log in.',
    ],
    val: [
      'I need a new password.',
      'Please update my phone number.',
      'I cannot log in.',
      'Delete my login.',
      'My email is wrong in the profile.',
      'How can I sign in with my phone?',
      'The password reset does not work.',
      'Change my name, please.',
    ],
    test: [
      'Sign in fails with my password.',
      'Update the phone number in my profile.',
      'I forgot the email of my login.',
      'How do I reset the password?',
      'My profile shows a wrong name.',
      'I want to delete my profile.',
      'The log in page does not accept my email.',
      'Please change my password.',
    ],
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
