import type { RETIRED_BY } from '../wire/values.ts'

/** What takes the place of an approved request that nobody pushed. */
export type RetiredBy = (typeof RETIRED_BY)[number]

/** What a push is, as something that took the place of a request. */
export function retiredByPush(push: {
  kind: string
  approvalId: string | null
  campaignId: string | null
  autoApplyId: string | null
}): RetiredBy {
  if (push.approvalId !== null) return 'request'
  if (push.campaignId !== null) return push.kind === 'rollback' ? 'campaign_roll_back' : 'campaign'
  return push.autoApplyId === null ? 'rollback' : 'auto_apply'
}
