// The tool: whether an answer is a number of the kind that is asked for. It knows the question, and no expected answer.

export function checkNumber(question: string, answer: string): boolean {
  if (!/^\d$/.test(answer)) return false
  const number = Number(answer)
  if (question.includes('even')) return number % 2 === 0
  if (question.includes('odd')) return number % 2 === 1
  const above = /above (\d)/.exec(question)?.[1]
  return above === undefined || number > Number(above)
}
