import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

const n = formatNumber

/** Texts of what a report comes to, above its sections. */
export const reportSummaryTexts = defineTexts({
  en: {
    title: 'In short',
    covers: 'Covers',
    span: (count: number, from: string | null, until: string) =>
      `${n(count)} ${plural(count, 'workload', 'workloads')}, ${from === null ? 'from the beginning' : `from ${from}`} until ${until}`,
    asked: 'Asked for',
    changes: (count: number) => `${n(count)} ${plural(count, 'change', 'changes')}`,
    approved: 'Approved',
    by: (who: string, count: number) => `${n(count)} by ${who}`,
    nobody: 'none',
    self: (count: number) =>
      `${n(count)} ${plural(count, 'change was', 'changes were')} approved by whoever asked for ${plural(count, 'it', 'them')}.`,
    glass: 'Break-glass',
    pushed: 'Pushed',
    outcomes: {
      applied: 'applied',
      failed: 'failed',
      in_part: 'applied in part',
      aborted: 'aborted',
      pending: 'not over yet',
    } as Record<string, string>,
    wentBack: (count: number) => `${n(count)} automatic ${plural(count, 'rollback', 'rollbacks')}`,
    runs: 'Runs now',
    since: (when: string) => `since ${when}`,
    more: (count: number) => `and ${n(count)} more below`,
    differs: 'Differs',
    differing: (count: number, all: number) =>
      count === 0
        ? `None of ${n(all)} runs something else than it should.`
        : `${n(count)} of ${n(all)} ${plural(count, 'runs', 'run')} something else than ${plural(count, 'it', 'they')} should.`,
    record: 'The record',
  },
  fr: {
    title: 'En bref',
    covers: 'Couvre',
    span: (count: number, from: string | null, until: string) =>
      `${n(count)} ${plural(count, 'workload', 'workloads')}, ${from === null ? 'depuis le début' : `du ${from}`} jusqu’au ${until}`,
    asked: 'Demandé',
    changes: (count: number) => `${n(count)} ${plural(count, 'changement', 'changements')}`,
    approved: 'Approuvé',
    by: (who: string, count: number) => `${n(count)} par ${who}`,
    nobody: 'aucun',
    self: (count: number) =>
      plural(
        count,
        '1 changement a été approuvé par qui l’a demandé.',
        `${n(count)} changements ont été approuvés par qui les a demandés.`,
      ),
    glass: 'Bris de glace',
    pushed: 'Poussé',
    outcomes: {
      applied: 'appliquées',
      failed: 'échouées',
      in_part: 'appliquées en partie',
      aborted: 'abandonnées',
      pending: 'en cours',
    },
    wentBack: (count: number) => `${n(count)} ${plural(count, 'retour automatique', 'retours automatiques')}`,
    runs: 'Tourne',
    since: (when: string) => `depuis le ${when}`,
    more: (count: number) => `et ${n(count)} de plus ci-dessous`,
    differs: 'En écart',
    differing: (count: number, all: number) =>
      count === 0
        ? `Aucun des ${n(all)} n’exécute autre chose que prévu.`
        : `${n(count)} sur ${n(all)} ${plural(count, 'exécute', 'exécutent')} autre chose que prévu.`,
    record: 'Le registre',
  },
})
