// What lies beside the patches, for people.
import { countText, numberText, signedText } from '../../kernel/index.ts'
import type { FinalizedSession, KeptPatch } from './finalize-research.ts'

/** A README in Markdown. Titles come from models and stand in it as plain text. */
export function patchReadme({ session, task, metric, patches, dropped }: FinalizedSession): string {
  const alone = patches.filter(({ needs }) => needs.length === 0).length
  const intro = [
    `# Kept changes of ${plain(task)}`,
    '',
    `Session ${plain(session)}: ${countText(patches.length, 'change')}, ${alone} of them on their own. Gains are of ${plain(metric)}; positive is better.`,
    'A patch without needs applies to the baseline; one with needs, after those it names. `all.patch` is everything the session ended with.',
    'The line after “reproduce” measures a patch in this folder and changes no file. To take it over, `git apply` it in the folder of the task.',
    '',
  ]
  const ended =
    dropped.length === 0
      ? []
      : [
          '## Left out',
          '',
          'Kept once, and found to be dead weight by ablation:',
          '',
          ...dropped.map((title) => `- ${plain(title)}`),
          '',
        ]
  return [...intro, ...patches.flatMap(patchLines), ...ended].join('\n')
}

function patchLines(patch: KeptPatch): string[] {
  const {
    order,
    title,
    file,
    needs,
    in_best,
    verdict,
    raw_gain,
    shrunken_gain,
    interval,
    n_seeds,
    chance_of_no_help,
    reproduce,
  } = patch
  const gain = [
    `${verdict}, ${countText(n_seeds, 'seed')}`,
    ...(raw_gain === null ? [] : [`raw gain ${signedText(raw_gain)}`]),
    ...(interval === null ? [] : [`90 % interval ${numberText(interval[0])} to ${numberText(interval[1])}`]),
    ...(shrunken_gain === null ? [] : [`**shrunken ${signedText(shrunken_gain)}**`]),
    ...(chance_of_no_help === null ? [] : [`chance of no help ${Math.round(100 * chance_of_no_help)} %`]),
  ]
  return [
    `## ${order}. ${plain(title)}`,
    '',
    `- file: \`${file}\``,
    `- evidence: ${gain.join('; ')}`,
    `- needs: ${needs.length === 0 ? 'nothing' : needs.join(', ')}`,
    ...(in_best ? [] : ['- not part of the best: a later change took its place']),
    `- reproduce: \`${reproduce}\``,
    '',
  ]
}

function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\\`*_[\]<>#|!]/g, '\\$&')
    .slice(0, 300)
}
