// One file with everything in it. It may load nothing and run nothing: its policy forbids both, whatever stands in the texts.
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

// How reports look: on a screen by day and by night, wide and narrow, and on paper. No font or picture is loaded.
const colours = {
  light: {
    page: '#fcfcfb',
    card: '#f3f4f2',
    text: '#1b1e22',
    muted: '#5b626b',
    line: '#dcdfdd',
    accent: '#1d5fbf',
    confirmed: '#0b7a4b',
    provisional: '#2468c8',
    inconclusive: '#a86400',
    discarded: '#8b929b',
    failed: '#bb3127',
    added: '#e3f4e8',
    removed: '#fbe6e3',
  },
  dark: {
    page: '#14171b',
    card: '#1d2126',
    text: '#e7e9ec',
    muted: '#a3abb5',
    line: '#333a42',
    accent: '#86b6ff',
    confirmed: '#46cf93',
    provisional: '#78adff',
    inconclusive: '#eab04a',
    discarded: '#79828d',
    failed: '#ff8177',
    added: '#16301f',
    removed: '#3a1d1b',
  },
} as const

const variables = (theme: Readonly<Record<string, string>>) =>
  Object.entries(theme)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

const reportStyle = new Markup(`
:root{color-scheme:light dark;${variables(colours.light)}}
@media (prefers-color-scheme:dark){:root{${variables(colours.dark)}}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main,footer{max-width:62rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.5rem}
h1{font-size:2rem;line-height:1.2;margin:.1rem 0 .4rem;letter-spacing:-.015em;overflow-wrap:anywhere}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .6rem;letter-spacing:-.01em}
h3{font-size:1.02rem;line-height:1.4;margin:1.4rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.4rem 0 .8rem;max-width:46rem}
section{padding:2.2rem 0 .4rem;border-top:1px solid var(--line);margin-top:2rem}
a{color:var(--accent)}
b,strong{font-weight:650}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.84rem}
.kicker,.muted,.facts,figcaption,footer,.x-title{color:var(--muted)}
.kicker{text-transform:uppercase;letter-spacing:.09em;font-size:.76rem;font-weight:650;margin:0}
.lead{font-size:1.14rem;line-height:1.5}
.facts{font-size:.88rem;margin:.2rem 0 .8rem;max-width:none}
.facts span{margin-right:1rem;overflow-wrap:anywhere}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;font-size:.9rem;margin:1.2rem 0 0}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
.warning{border-left:4px solid var(--inconclusive);background:var(--card);padding:.6rem .9rem;border-radius:0 6px 6px 0;max-width:46rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(45%,13rem),1fr));gap:.7rem;margin:1.3rem 0 0;padding:0}
.tiles div{background:var(--card);border-radius:8px;padding:.75rem .9rem}
.tiles dt{color:var(--muted);font-size:.8rem}
.tiles dd{margin:0;font-size:1.45rem;line-height:1.3;font-weight:650;letter-spacing:-.02em;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles small{display:block;color:var(--muted);font-size:.79rem;font-weight:400;letter-spacing:0;line-height:1.35}
figure{margin:1rem 0}
figcaption{font-size:.88rem;margin:.5rem 0 0;max-width:46rem}
.plot{display:grid;grid-template-columns:var(--ys) 1fr;grid-template-rows:var(--height) 1.5rem auto;font-size:.8rem;font-variant-numeric:tabular-nums}
.ys{position:relative;grid-area:1/1}
.ys span{position:absolute;right:.6ch;transform:translateY(-50%);color:var(--muted);white-space:nowrap}
.drawing{position:relative;grid-area:1/2;min-width:0}
.drawing svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.xs{position:relative;grid-area:2/2}
.xs span{position:absolute;top:.25rem;transform:translateX(-50%);color:var(--muted)}
.x-title{grid-area:3/2;text-align:center}
.plot path{fill:none;vector-effect:non-scaling-stroke}
.plot .grid{stroke:var(--line);stroke-width:1}
.plot .strip{fill:var(--failed);opacity:.07}
.plot .band{fill:var(--accent);opacity:.13}
.plot .best{stroke:var(--accent);stroke-width:2;stroke-linejoin:round}
.plot .area{fill:var(--accent);opacity:.12}
.plot .spent{stroke:var(--accent);stroke-width:2;stroke-linejoin:round}
.dot path{stroke-linecap:round;stroke-width:6}
.dot path:hover{stroke-width:13}
.dot.discarded path,.dot.running path{stroke:var(--discarded);opacity:.75}
.dot.failed path{stroke:var(--failed);stroke-linecap:square;stroke-width:5}
.dot.inconclusive path{stroke:var(--inconclusive);stroke-linecap:square;stroke-width:6}
.dot.provisional path{stroke:var(--provisional);stroke-width:9}
.dot.confirmed path{stroke:var(--confirmed);stroke-width:11}
.dot.baseline path{stroke:var(--text);stroke-width:9}
.plot .halo{stroke:var(--page);stroke-width:13;stroke-linecap:round}
.caption{position:absolute;transform:translate(.7rem,-1.45rem);font-size:.76rem;color:var(--muted);background:color-mix(in srgb,var(--page) 78%,transparent);border-radius:3px;padding:0 .25rem;white-space:nowrap;pointer-events:none}
.caption b{color:var(--text)}
.arm{position:absolute;left:0;font-size:.8rem;color:var(--muted);white-space:nowrap;pointer-events:none}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:.6rem 0 0;padding:0;font-size:.86rem}
.legend svg{width:1.5rem;height:.8rem;margin-right:.35rem;vertical-align:-.05rem}
.legend path{fill:none}
.legend .area{fill:var(--accent);opacity:.13}
.legend .line{stroke:var(--accent);stroke-width:2}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding-bottom:.3rem;font-size:.86rem}
th,td{text-align:left;padding:.38rem .7rem .38rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--muted);white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap}
td.words{min-width:13rem;overflow-wrap:anywhere}
td.wide{width:34%;min-width:8rem;vertical-align:middle}
.raw{color:var(--muted)}
.bar{display:block;width:100%;height:.85rem;border-radius:3px}
.part.confirmed{fill:var(--confirmed)}
.part.provisional{fill:var(--provisional)}
.part.inconclusive{fill:var(--inconclusive)}
.part.discarded,.part.running{fill:var(--discarded);opacity:.6}
.part.failed{fill:var(--failed)}
.fate{display:inline-block;font-size:.78rem;font-weight:600;white-space:nowrap}
.fate.confirmed{color:var(--confirmed)}
.fate.provisional{color:var(--provisional)}
.fate.inconclusive{color:var(--inconclusive)}
.fate.failed{color:var(--failed)}
.fate.discarded,.fate.running{color:var(--muted)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(19rem,1fr));gap:0 2.2rem}
.columns>*{min-width:0}
ul.plain{padding-left:1.1rem;margin:.4rem 0}
ul.plain li{margin:.3rem 0;max-width:46rem;overflow-wrap:anywhere}
details{margin:.8rem 0}
summary{cursor:pointer;color:var(--accent);font-size:.92rem;overflow-wrap:anywhere}
pre{background:var(--card);border-radius:6px;padding:.7rem .9rem;overflow:auto;margin:.5rem 0;line-height:1.45}
pre.log,pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}
.diff{max-height:30rem}
.diff code{display:block;min-width:max-content}
.diff ins,.diff del,.diff .hunk,.diff .file{display:block;text-decoration:none}
.diff ins{background:var(--added);box-shadow:-.9rem 0 var(--added),.9rem 0 var(--added)}
.diff del{background:var(--removed);box-shadow:-.9rem 0 var(--removed),.9rem 0 var(--removed)}
.diff .hunk{color:var(--accent)}
.diff .file{color:var(--muted)}
footer{font-size:.82rem;padding-top:1.5rem;padding-bottom:3rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:44rem){.caption{display:none}h1{font-size:1.6rem}.lead{font-size:1.05rem}main,footer{padding:0 1rem}section{padding-top:1.6rem}td.wide{min-width:6rem}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{:root{color-scheme:light;${variables(colours.light)}}body{font-size:10.5pt}main,footer{max-width:none}nav,summary{display:none}section{break-inside:auto;margin-top:1rem;padding-top:1rem}h2,h3{break-after:avoid}figure,tr,.tiles div{break-inside:avoid}pre,.scroll,.diff{max-height:none;overflow:visible;white-space:pre-wrap}.diff code{min-width:0}.diff ins,.diff del{print-color-adjust:exact;-webkit-print-color-adjust:exact}a{color:inherit;text-decoration:none}}
`)
