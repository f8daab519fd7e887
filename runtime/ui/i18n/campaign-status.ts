import type { CampaignRecord, CampaignStatus } from '../../../lib/wire/campaigns.ts'
import { defineTexts, say } from './define.ts'

/** What campaigns are called by their status: few words, which pages need that tell nothing else of campaigns. */
export const campaignStatusTexts = defineTexts({
  en: {
    status: {
      draft: 'draft',
      planned: 'planned',
      requested: 'waiting for approval',
      approved: 'approved',
      running: 'running',
      paused: 'paused',
      halted: 'halted',
      done: 'done',
      aborted: 'aborted',
      rolling_back: 'being rolled back',
      rolled_back: 'rolled back',
      rejected: 'rejected',
      withdrawn: 'withdrawn',
      expired: 'expired',
    } satisfies Record<CampaignStatus, string> as Record<CampaignStatus, string>,
    notBack: 'nothing rolled back',
    heldUp: { frozen: 'waits: frozen', window: 'waits for its window' },
  },
  fr: {
    status: {
      draft: 'brouillon',
      planned: 'planifiée',
      requested: 'en attente d’approbation',
      approved: 'approuvée',
      running: 'en cours',
      paused: 'en pause',
      halted: 'arrêtée',
      done: 'terminée',
      aborted: 'abandonnée',
      rolling_back: 'retour en arrière en cours',
      rolled_back: 'retour en arrière fait',
      rejected: 'rejetée',
      withdrawn: 'retirée',
      expired: 'expirée',
    } as Record<CampaignStatus, string>,
    notBack: 'rien n’est revenu',
    heldUp: { frozen: 'en attente : gel', window: 'attend sa fenêtre' },
  },
})

/** Whether some workload has its former config again by the roll-back of a campaign, be it one that got its version by itself. */
export const hasGoneBack = ({
  counts,
  by_itself_counts: byItself = {},
}: Pick<CampaignRecord, 'counts' | 'by_itself_counts'>): boolean =>
  (counts['rolled_back'] ?? 0) + (byItself['rolled_back'] ?? 0) > 0

/**
 * What a campaign is called by its status; one that was rolled back and where nothing went back, so, and one that runs
 * and stands still by what it waits for.
 */
export const nameStatus = (
  of: Pick<CampaignRecord, 'status' | 'counts' | 'by_itself_counts' | 'held_up'>,
): string => {
  const words = say(campaignStatusTexts)
  if (of.held_up !== undefined) return words.heldUp[of.held_up.reason]
  // One that only a later version of the service knows has no other word.
  const status: Partial<typeof words.status> = words.status
  return of.status === 'rolled_back' && !hasGoneBack(of) ? words.notBack : (status[of.status] ?? of.status)
}
