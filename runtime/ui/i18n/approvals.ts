import type { ApprovalSummary } from '../../../lib/wire/approvals.ts'
import type { ForYou } from '../state/for-you.ts'
import { defineTexts, plural, say } from './define.ts'
import { formatList, formatNumber } from './format.ts'

/** Texts of the list of approvals. */
export const approvalTexts = defineTexts({
  en: {
    title: 'Approvals',
    tab: { pending: 'Waiting', approved: 'Approved, not pushed', pushed: 'Pushed', closed: 'Closed' },
    none: {
      pending: 'Nothing waits for anybody.',
      approved: 'Nothing is approved and waiting for its push.',
      pushed: 'Nothing was pushed yet.',
      closed: 'Nothing was rejected, withdrawn or retired.',
    },
    noneWithin: 'There is none within your scope.',
    risks: {
      title: 'What makes a risk high or medium',
      other: 'A receiver is added, or anything else is removed',
      low: 'Low risk: none of that was seen. A limit or a component that is only added is none.',
    },
    untitled: 'Change without a comment',
    instances: (count: number) => `${formatNumber(count)} ${plural(count, 'instance', 'instances')}`,
    forYou: 'It waits for you.',
    forNobody: 'Nobody can approve it as things stand.',
    countForNobody: (count: number) => `Nobody can approve ${formatNumber(count)} of them as things stand.`,
    noneForYou: 'Nothing of it waits for you.',
    waitsForYou: (what: string) => `For you: ${what}.`,
    changes: (count: number) => `${formatNumber(count)} ${plural(count, 'change', 'changes')}`,
    campaigns: (count: number) => `${formatNumber(count)} ${plural(count, 'campaign', 'campaigns')}`,
    reviews: (count: number) => `${formatNumber(count)} to look at`,
    column: {
      change: 'Change',
      workload: 'Workload',
      requester: 'Requested by',
      reach: 'Reaches',
      risk: 'Risk',
      state: 'State',
    },
  },
  fr: {
    title: 'Approbations',
    tab: { pending: 'En attente', approved: 'Approuvées, à pousser', pushed: 'Poussées', closed: 'Closes' },
    none: {
      pending: 'Rien n’attend personne.',
      approved: 'Rien d’approuvé n’attend sa poussée.',
      pushed: 'Rien n’a encore été poussé.',
      closed: 'Rien n’a été rejeté, retiré ou remplacé.',
    },
    noneWithin: 'Il n’y en a aucune dans votre périmètre.',
    risks: {
      title: 'Ce qui rend un risque élevé ou moyen',
      other: 'Un récepteur est ajouté, ou autre chose est retiré',
      low: 'Risque faible : rien de cela n’a été vu. Une limite ou un composant seulement ajoutés n’en sont pas.',
    },
    untitled: 'Changement sans commentaire',
    instances: (count: number) => `${formatNumber(count)} ${plural(count, 'instance', 'instances')}`,
    forYou: 'Elle vous attend.',
    forNobody: 'Personne ne peut l’approuver en l’état.',
    countForNobody: (count: number) => `Personne ne peut en approuver ${formatNumber(count)} en l’état.`,
    noneForYou: 'Rien de cela ne vous attend.',
    waitsForYou: (what: string) => `À vous : ${what}.`,
    changes: (count: number) => `${formatNumber(count)} ${plural(count, 'modification', 'modifications')}`,
    campaigns: (count: number) => `${formatNumber(count)} ${plural(count, 'campagne', 'campagnes')}`,
    reviews: (count: number) => `${formatNumber(count)} à regarder`,
    column: {
      change: 'Modification',
      workload: 'Workload',
      requester: 'Demandé par',
      reach: 'Atteint',
      risk: 'Risque',
      state: 'État',
    },
  },
})

/** That some of these requests wait for nobody; empty for none. */
export function describeForNobody(of: readonly Pick<ApprovalSummary, 'nobody_can_approve'>[]): string {
  const count = of.filter(({ nobody_can_approve: isStuck }) => isStuck).length
  return count === 0 ? '' : say(approvalTexts).countForNobody(count)
}

/** What the badge beside the name of this page counts, by what it is. */
export function describeForYou({ changes, campaigns, reviews }: ForYou): string {
  const words = say(approvalTexts)
  const parts = [
    ...(changes > 0 ? [words.changes(changes)] : []),
    ...(campaigns > 0 ? [words.campaigns(campaigns)] : []),
    ...(reviews > 0 ? [words.reviews(reviews)] : []),
  ]
  return parts.length === 0 ? words.noneForYou : words.waitsForYou(formatList(parts))
}
