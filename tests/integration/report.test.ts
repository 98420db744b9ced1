import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { researchReport } from '../../src/report/index.ts'
import { generatedSession } from '../generated-session.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { chromium, openBrowser, type PageView } from './browser.ts'

const folder = temporaryFolders()

const views: readonly PageView[] = [
  { scheme: 'light', width: 1200 },
  { scheme: 'dark', width: 1200 },
  { scheme: 'light', width: 360 },
  { scheme: 'dark', width: 360 },
]

// Of all elements with text of their own: its contrast with the page (WCAG 2, relative luminance).
const poorContrast = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number)
  const luminance = (color) => channels(color).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const ground = (node) => { for (let at = node; at; at = at.parentElement) { const color = getComputedStyle(at).backgroundColor; if (!/, 0\\)$|transparent|color\\(/.test(color)) return color } return 'rgb(255, 255, 255)' }
  const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05) }
  return [...document.querySelectorAll('body *')].filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== '') && !(node instanceof SVGElement))
    .map((node) => [node.tagName + '.' + node.className, ratio(getComputedStyle(node).color, ground(node))]).filter(([, value]) => value < 4.5).slice(0, 5)
})()`

chromium.describe('a report in Chromium', () => {
  chromium.it(
    'opens without an error and without a request, by day and by night, wide and narrow (RES-710)',
    async () => {
      const file = join(folder(), 'report.html')
      const title = (n: number) =>
        `variant ${n} <script>console.error("attack")</script><img src="http://127.0.0.1:9/x">`
      writeFileSync(file, researchReport(generatedSession(60, { title })))
      await using browser = await openBrowser()
      const grounds: unknown[] = []
      for (const view of views) {
        const page = await browser.open(file, view)
        expect(await page.evaluate('document.querySelectorAll("section").length')).toBe(14)
        expect(await page.evaluate('document.querySelectorAll(".dot path").length')).toBeGreaterThan(60)
        expect(await page.evaluate('document.scripts.length + document.images.length')).toBe(0)
        // Nothing is cut off: what is too wide scrolls inside its own frame.
        expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(
          0,
        )
        expect(await page.evaluate(poorContrast)).toEqual([])
        expect(
          await page.evaluate(
            '[...document.querySelectorAll("svg[role=img]")].every((svg) => svg.getAttribute("aria-label"))',
          ),
        ).toBe(true)
        grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
        expect(page.complaints).toEqual([])
        expect(page.requests).toEqual([])
      }
      expect(grounds[0]).toBe(grounds[2])
      expect(grounds[0]).not.toBe(grounds[1])
    },
  )
})
