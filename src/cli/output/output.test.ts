import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createScreen } from '../../../tests/screen.ts'
import { createLiveSink, watchSilence } from './output.ts'

describe('a live sink', () => {
  it('keeps its lines at the end, and what is written above them (CLI-9)', () => {
    const screen = createScreen()
    const live = createLiveSink(screen)
    live.write('before\n')
    live.show(['one 10 %', 'two 20 %'])
    live.write('a notice\n')
    live.show(['one 30 %', 'two 40 %', 'three 0 %'])
    expect(screen.lines()).toEqual(['before', 'a notice', 'one 30 %', 'two 40 %', 'three 0 %', ''])
    live.show(['two 90 %'])
    live.write('no newline')
    expect(screen.lines()).toEqual(['before', 'a notice', 'no newline', 'two 90 %', ''])
    live.show([])
    live.write('after\n')
    expect(screen.lines()).toEqual(['before', 'a notice', 'no newline', 'after', ''])
  })

  it('shows what a screen would show that is drawn anew each time (CLI-9)', async () => {
    const word = fc.stringMatching(/^[a-z ]{0,8}$/).map((text) => text.trimEnd())
    const action = fc.oneof(
      fc.record({ show: fc.array(word, { maxLength: 5 }) }),
      fc.record({ write: word.map((text) => `${text}\n`) }),
    )
    await fc.assert(
      fc.property(fc.array(action), (actions) => {
        const screen = createScreen()
        const live = createLiveSink(screen)
        let above: string[] = []
        let below: string[] = []
        for (const each of actions) {
          if ('show' in each) {
            live.show(each.show)
            below = each.show
          } else {
            live.write(each.write)
            above = [...above, each.write.slice(0, -1)]
          }
          expect(screen.lines()).toEqual([...above, ...below, ''])
        }
      }),
    )
  })

  it('draws in one write, and erases no line before it is written anew (CLI-9)', () => {
    const screen = createScreen()
    const live = createLiveSink(screen)
    live.show(['one', 'two'])
    const before = screen.writes.length
    live.show(['one', 'two!'])
    expect(screen.writes.length - before).toBe(1)
    expect(screen.writes.at(-1)).not.toContain('\u001B[J')
  })

  it('shows nothing where no terminal is (CLI-9)', () => {
    const written: string[] = []
    const live = createLiveSink({ write: (text) => written.push(text) })
    live.show(['one'])
    live.write('text')
    live.show([])
    expect(written).toEqual(['text'])
  })
})

describe('the silence of a command', () => {
  it('is ended by what it is at; what is written begins the wait anew, its own words do not (USE-173)', () => {
    const written: string[] = []
    let restarts = 0
    let say = (_seconds: number) => {}
    const announce = (given: (seconds: number) => void) => {
      say = given
      return { restart: () => void restarts++, [Symbol.dispose]() {} }
    }
    const live = {
      write(text: string) {
        written.push(text)
        silence.restart()
      },
    }
    let doing: string | undefined = 'the plugin loader'
    const silence = watchSilence(announce, live, () => doing)
    live.write('a line\n')
    say(5)
    doing = undefined
    say(25)
    expect(restarts).toBe(1)
    expect(written).toEqual([
      'a line\n',
      'still at it after 5 s: the plugin loader\n',
      'still at it after 25 s: reading what the command names\n',
    ])
  })
})
