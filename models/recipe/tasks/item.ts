/** What is asked, and the one right answer. */
export type Item = { user: string; answer: string }

/** `validation` is what settings were chosen on, `test` what nothing was chosen on; `reworded` is the test in words that training has not. */
export type Split = 'train' | 'validation' | 'test' | 'reworded'
