import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { defineTexts, say } from './define.ts'
import { formatWhen, shortHash } from './format.ts'
import { historyTexts } from './history.ts'

/** What each side of a comparison is. */
export const sideTexts = defineTexts({
  en: {
    pushed: (hash: string, who: string, when: string) => `${hash}, pushed by ${who}, ${when}`,
    active: (side: string) => `Active: ${side}`,
    before: (side: string) => `Before: ${side}`,
    reported: 'What runs now (reported by the instances)',
    draft: 'Your draft, which nobody else sees yet',
    requested: (hash: string, who: string, when: string) => `Requested: ${hash}, by ${who}, ${when}`,
    from: (side: string) => `From ${side}`,
    back: (side: string) => `Back to ${side}`,
    wanted: (hash: string) => `What it should run: ${hash}`,
    runs: (instance: string) => `What ${instance} reports to run`,
  },
  fr: {
    pushed: (hash: string, who: string, when: string) => `${hash}, poussée par ${who}, ${when}`,
    active: (side: string) => `Active : ${side}`,
    before: (side: string) => `Avant : ${side}`,
    reported: 'Ce qui tourne (signalé par les instances)',
    draft: 'Votre brouillon, que personne d’autre ne voit encore',
    requested: (hash: string, who: string, when: string) => `Demandé : ${hash}, par ${who}, ${when}`,
    from: (side: string) => `De ${side}`,
    back: (side: string) => `Vers ${side}`,
    wanted: (hash: string) => `Ce qu’il devrait exécuter : ${hash}`,
    runs: (instance: string) => `Ce que ${instance} dit exécuter`,
  },
})

/** A config that was pushed: its hash, and by whom and when where that is known. */
export function nameSide(
  hash: string,
  { pushed_by: who, at }: { pushed_by?: string | undefined; at?: string | undefined },
): string {
  if (who === undefined || at === undefined) return shortHash(hash)
  const by = who === 'auto-rollback' ? say(historyTexts).autoRollback : who
  return say(sideTexts).pushed(shortHash(hash), by, formatWhen(at))
}

/** The same of a push in the history. */
export const nameRevision = ({ config_hash: hash, pushed_by, submitted_at: at }: RevisionRecord): string =>
  nameSide(hash, { pushed_by, at })

/** A request as a side. */
export const nameRequest = ({ draft_hash: hash, requester, created_at: at }: ApprovalRecord): string =>
  say(sideTexts).requested(shortHash(hash), requester, formatWhen(at))
