import type { WebhookDeliveries } from '../alerts/webhook-delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import { redactText } from '../configs/redact/redact.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Approval } from '../store/approvals.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import type { StoredCampaign } from '../store/campaigns.ts'
import type { Db } from '../store/db.ts'
import type { ChangeEvent, ChangeNewsBody } from '../wire/news.ts'

/** What happened, whoever did it, and what it is about. */
interface News {
  event: ChangeEvent
  by: string
  /** Why the glass was broken; empty for any other event. */
  reason?: string
  about: NewsSubject
}

type NewsSubject = Omit<ChangeNewsBody['change'], 'by' | 'reason'> & { path: string }

/**
 * Tells the alert webhook what happens to requests, campaigns and versions that are to apply by themselves: requested,
 * approved, rejected, or pushed by breaking the glass.
 */
export interface ChangeNews {
  /**
   * Store a delivery to the webhook, where one is configured: in the transaction of what happened, before its audit
   * record.
   */
  owe(tx: Db, news: News): Promise<void>
}

const REASON_LENGTH_MAX = 300
const NAME_LENGTH_MAX = 120

const cut = (text: string, most: number): string => [...text].slice(0, most).join('')

/**
 * Make the news that go out as deliveries of the alert webhook. They hold a link where the public address is known.
 * Neither drafts nor comments are told; the reason for breaking the glass is, with secrets masked.
 */
export function openChangeNews(parts: {
  clock: Clock
  webhooks: Pick<WebhookDeliveries, 'owe'>
  /** Where browsers find the service, without a slash at its end; empty when that is not configured. */
  publicUrl: string
}): ChangeNews {
  const { clock, webhooks, publicUrl } = parts
  return {
    async owe(tx, { event, by, reason = '', about: { path, ...about } }) {
      const now = clock.now()
      const told = cut(redactText(reason), REASON_LENGTH_MAX)
      const body: ChangeNewsBody = {
        event,
        at: now.toISOString(),
        ...(publicUrl === '' ? {} : { link: publicUrl + path }),
        change: { ...about, by, ...(told === '' ? {} : { reason: told }) },
      }
      await webhooks.owe(tx, [{ alertId: about.id, body: JSON.stringify(body), isNews: true }], now)
    },
  }
}

/** Tell the webhook what happened to a request, in the transaction of what happened. */
export const tellOfRequest = (
  { news, fleet }: { news: ChangeNews; fleet: Pick<Fleet, 'workload'> },
  tx: Db,
  event: ChangeEvent,
  approval: Approval,
  { email: by }: Pick<AuditActor, 'email'>,
  reason = '',
): Promise<void> => {
  const name = fleet.workload(approval.workloadId)?.displayName ?? ''
  return news.owe(tx, { event, by, reason, about: toRequestNews(approval, name) })
}

/** A request as the webhook is told of it. */
const toRequestNews = (
  { id, workloadId, status, targetGroup, targetEnv, prodTarget, draftHash, requester }: Approval,
  displayName: string,
): NewsSubject => ({
  kind: 'request',
  id,
  status,
  requested_by: requester,
  production: prodTarget,
  workload_id: workloadId,
  workload_name: cut(displayName, NAME_LENGTH_MAX),
  draft_hash: draftHash,
  target_group: cut(targetGroup, NAME_LENGTH_MAX),
  target_env: cut(targetEnv, NAME_LENGTH_MAX),
  path: `/workloads/${workloadId}/changes/${id}`,
})

/** A campaign as the webhook is told of it. */
export const toCampaignNews = ({ id, status, name, plan, requestedBy }: StoredCampaign): NewsSubject => ({
  kind: 'campaign',
  id,
  status,
  name: cut(name, NAME_LENGTH_MAX),
  ...(requestedBy === null ? {} : { requested_by: requestedBy }),
  production: (plan?.production_count ?? 0) > 0,
  ...(plan === null ? {} : { workload_count: plan.target_count }),
  path: `/campaigns/${id}`,
})

/** A version that is to apply by itself, as the webhook is told of it. */
export const toAutoApplyNews = (autoApply: StoredAutoApply): NewsSubject => ({
  kind: 'auto_apply',
  id: autoApply.id,
  status: autoApply.status,
  name: cut(autoApply.fleetConfigName, NAME_LENGTH_MAX),
  version: autoApply.number,
  requested_by: autoApply.requestedBy,
  production: autoApply.reachesProduction,
  workload_count: autoApply.plan.reached_count,
  path: `/fleet-configs/${autoApply.fleetConfigId}`,
})
