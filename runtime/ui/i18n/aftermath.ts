import type { PushAftermath } from '../../../lib/wire/revisions.ts'
import { describeError } from './causes.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatNumber, shortHash } from './format.ts'

const n = formatNumber

/** A mark and a sentence for each way in which a rollback can stand. */
type Taken = Record<PushAftermath['kind'], readonly [string, string]>

const aftermathTexts = defineTexts({
  en: {
    automatic: 'The automatic rollback',
    someone: 'A rollback',
    wentBack: (who: string, hash: string) => `${who} went back to ${hash}.`,
    goingBack: (who: string, hash: string) => `${who} is going back to ${hash}.`,
    failedToo: (who: string, hash: string, why: string) =>
      `${who} to ${hash} failed as well${why && `: ${why}`}.`,
    inPart: (who: string, hash: string, applied: number, all: number) =>
      `${who} to ${hash} was applied on ${n(applied)} of ${n(all)} ${plural(all, 'instance', 'instances')} only.`,
    others: (failed: number, silent: number, why: string) =>
      [
        failed > 0 ? `It failed on ${n(failed)}${why && `: ${why}`}.` : '',
        silent > 0 ? `${n(silent)} ${plural(silent, 'has', 'have')} not answered.` : '',
      ]
        .filter((part) => part !== '')
        .join(' '),
    nowhere: 'There was no earlier config to go back to.',
    overtaken: 'Another push took its place.',
    running: (count: number) =>
      count === 0
        ? 'No live instance runs it.'
        : `${n(count)} ${plural(count, 'instance runs', 'instances run')} it still.`,
    push: 'Push a config that works.',
    taken: {
      went_back: ['rolled back', 'It was rolled back.'],
      going_back: ['being rolled back', 'It is being rolled back.'],
      went_back_in_part: ['rolled back in part', 'It was rolled back in part.'],
      rollback_failed: ['rollback failed', 'It could not be rolled back.'],
      nowhere_to_go: ['not rolled back', 'It was not rolled back.'],
      overtaken: ['rolled back', 'It was to be rolled back.'],
    } as Taken,
  },
  fr: {
    automatic: 'Le retour automatique',
    someone: 'Un retour',
    wentBack: (who: string, hash: string) => `${who} a rétabli ${hash}.`,
    goingBack: (who: string, hash: string) => `${who} rétablit ${hash}.`,
    failedToo: (who: string, hash: string, why: string) =>
      `${who} à ${hash} a échoué aussi${why && ` : ${why}`}.`,
    inPart: (who: string, hash: string, applied: number, all: number) =>
      `${who} à ${hash} n’a abouti que sur ${n(applied)} ${plural(applied, 'instance', 'instances')} sur ${n(all)}.`,
    others: (failed: number, silent: number, why: string) =>
      [
        failed > 0 ? `Échec sur ${n(failed)}${why && ` : ${why}`}.` : '',
        silent > 0 ? `${n(silent)} ${plural(silent, 'n’a', 'n’ont')} pas répondu.` : '',
      ]
        .filter((part) => part !== '')
        .join(' '),
    nowhere: 'Il n’y avait pas de config antérieure à rétablir.',
    overtaken: 'Une autre poussée a pris sa place.',
    running: (count: number) =>
      count === 0
        ? 'Aucune instance active ne l’exécute.'
        : `${n(count)} ${plural(count, 'instance l’exécute', 'instances l’exécutent')} encore.`,
    push: 'Poussez une config qui marche.',
    taken: {
      went_back: ['retour fait', 'Le retour en arrière est fait.'],
      going_back: ['retour en cours', 'Le retour en arrière est en cours.'],
      went_back_in_part: ['retour fait en partie', 'Le retour en arrière est fait en partie.'],
      rollback_failed: ['retour échoué', 'Le retour en arrière a échoué.'],
      nowhere_to_go: ['sans retour', 'Il n’y a pas eu de retour en arrière.'],
      overtaken: ['retour fait', 'Un retour en arrière était prévu.'],
    },
  },
})

/** Why the rollback failed; empty where that was told already, of the config that it takes back. */
function whyOf(of: PushAftermath, told: string): string {
  const why = describeError(of)
  return why !== '' && told.startsWith(why) ? '' : why
}

/** How many instances could not go back, and how many have not said whether they did; empty where that is none. */
const othersOf = (of: PushAftermath, told: string): string =>
  say(aftermathTexts).others(of.failed_count ?? 0, of.no_status_count ?? 0, whyOf(of, told))

/** How a rollout stands that was taken back, as a mark and in a sentence: it may not be back yet, or not all of it. */
export function describeTakenBack(of: PushAftermath | undefined): { mark: string; sentence: string } {
  const [mark, sentence] = say(aftermathTexts).taken[of?.kind ?? 'went_back']
  return { mark, sentence }
}

/**
 * What was done about a failed push, in the same words wherever it is said. `told` is what is said beside it of why the
 * push failed: a rollback that failed of the same says so in fewer words.
 */
export function describeAftermath(of: PushAftermath | undefined, told = ''): string {
  if (of === undefined) return ''
  const words = say(aftermathTexts)
  const who = of.pushed_by === 'auto-rollback' ? words.automatic : words.someone
  const hash = shortHash(of.config_hash)
  const running = words.running(of.running_count)
  switch (of.kind) {
    case 'went_back':
      return words.wentBack(who, hash)
    case 'going_back':
      return [words.goingBack(who, hash), othersOf(of, told)].filter((part) => part !== '').join(' ')
    case 'went_back_in_part': {
      const { applied_count: applied = 0, target_count: all = 0 } = of
      return `${words.inPart(who, hash, applied, all)} ${othersOf(of, told)}${of.running_count > 0 ? ` ${running}` : ''}`
    }
    case 'rollback_failed':
      return `${words.failedToo(who, hash, whyOf(of, told))} ${running} ${words.push}`
    case 'nowhere_to_go':
      return `${words.nowhere} ${running} ${words.push}`
    case 'overtaken':
      return words.overtaken
  }
}
