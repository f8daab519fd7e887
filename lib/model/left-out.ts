import type { CampaignReason } from '../wire/campaigns.ts'

/** The words that say by themselves why a plan leaves a workload out; any other is why it is refused. */
const PLAIN = ['same', 'unmanaged', 'quarantined', 'excluded', 'held', 'frozen'] as const

/** Why a plan leaves a workload out, as everybody is told. */
export type LeftOut = (typeof PLAIN)[number] | CampaignReason

/** Whether a plan refuses a workload for this, as a plan would not where it is only held or frozen. */
export const isRefusal = (why: LeftOut): boolean => !PLAIN.some((plain) => plain === why)

/** How many workloads a plan leaves out, by why: the one count that pages, API, command line and evidence show. */
export function countLeftOut({
  verdicts,
  refused,
}: {
  verdicts: Readonly<Record<string, number>>
  /** By reason, of those that are refused and those that are held. */
  refused: Readonly<Record<string, number>>
}): Record<string, number> {
  const { changes: _, offline: __, refused: ___, held: ____, ...plain } = verdicts
  return { ...plain, ...refused }
}

/** Such counts in English, as the command line says them. */
export function sayLeftOut(counts: Readonly<Record<string, number>>): string {
  const said = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([why, count]) => {
      const word = why.replaceAll('_', ' ')
      return isRefusal(why as LeftOut) ? `${count} refused (${word})` : `${count} ${word}`
    })
  return said.join(', ') || '-'
}
