// One file with everything in it. It may load nothing and run nothing: its policy forbids both, whatever stands in the texts.
import { readFileSync } from 'node:fs'
import { type Content, html, Markup } from './markup.ts'

interface PageOptions {
  readonly title: string
  readonly header: Content
  readonly sections: readonly Section[]
  readonly footer: Content
}

export interface Section {
  /** Address inside the page. */
  readonly id: string
  readonly title: string
  /** Word in the list of contents; absent: it is not listed. */
  readonly short?: string | undefined
  readonly body: Content
}

export function page({ title, header, sections, footer }: PageOptions): string {
  const listed = sections.filter(({ short }) => short !== undefined)
  const contents = html`<nav aria-label="Sections">${listed.map(({ id, short }) => html`<a href="#${id}">${short}</a>`)}</nav>`
  const body = sections.map(
    (section) =>
      html`<section id="${section.id}" aria-labelledby="${section.id}-title"><h2 id="${section.id}-title">${section.title}</h2>
${section.body}
</section>
`,
  )
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${reportStyle}</style>
</head>
<body>
<main>
<header>
${header}
${contents}
</header>
${body}
</main>
<footer>${footer}</footer>
</body>
</html>
`.text
}

// On a screen by day and by night, wide and narrow, and on paper. No font or picture is loaded.
const reportStyle = new Markup(readFileSync(new URL('../../../templates/report.css', import.meta.url), 'utf8'))
