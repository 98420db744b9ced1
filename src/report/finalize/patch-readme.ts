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
    'They are the steps from the baseline to the best, in order: each gain was measured against the step before it, on the same seeds.',
    'A patch without needs applies to the baseline; one with needs, after those it names. `all.patch` is everything the session ended with.',
    'To take one over, `git apply` it in the folder of the task. The line after “reproduce” measures all steps up to it again, in this folder, and changes no file.',
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
    verdict,
    raw_gain,
    shrunken_gain,
    interval,
    n_seeds,
    chance_of_no_help,
    against,
    written_on,
    measured,
    reproduce,
  } = patch
  const gain = [
    `${verdict}, ${countText(n_seeds, 'seed')} against ${plain(against)}`,
    ...(raw_gain === null ? [] : [`raw gain ${signedText(raw_gain)}`]),
    ...(interval === null ? [] : [`90 % interval ${numberText(interval[0])} to ${numberText(interval[1])}`]),
    ...(shrunken_gain === null ? [] : [`**shrunken ${signedText(shrunken_gain)}**`]),
    ...(chance_of_no_help === null
      ? []
      : [`chance of no help ${chance_of_no_help < 0.01 ? 'under 1' : Math.round(100 * chance_of_no_help)} %`]),
  ]
  return [
    `## ${order}. ${plain(title)}`,
    '',
    `- file: \`${file}\``,
    `- evidence: ${gain.join('; ')}`,
    ...(written_on === against
      ? []
      : [
          `- its idea was written on ${plain(written_on)}, and its title tells of that; the patch is what differs from ${plain(against)}`,
        ]),
    `- needs: ${needs.length === 0 ? 'nothing' : needs.join(', ')}`,
    `- reproduce: \`${reproduce}\``,
    ...(measured.length === 0
      ? []
      : [`- measured then: ${measured.map(({ seed, value }) => `seed ${seed} ${numberText(value)}`).join(', ')}`]),
    '',
  ]
}

function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\\`*_[\]<>#|!]/g, '\\$&')
    .slice(0, 300)
}
