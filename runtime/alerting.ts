import { AlertEngine, type AlertEngineParts, type AlertNotices } from '../lib/alerts/engine.ts'
import { minAgentVersionProblem } from '../lib/alerts/rules.ts'
import type { WebhookNetwork } from '../lib/alerts/webhook-client.ts'
import { WebhookDeliveries } from '../lib/alerts/webhook-delivery.ts'
import { listHaltsNow } from '../lib/campaigns/run/halt-holds.ts'
import { readPolicyNews } from '../lib/changes/approval-policy.ts'
import { type ChangeNews, openChangeNews } from '../lib/changes/news.ts'
import type { Fleet } from '../lib/fleet/fleet.ts'
import type { FleetGround } from '../lib/fleet/state/deps.ts'
import type { Config } from './config.ts'

/**
 * Open the alert engine over a fleet, the webhook that it calls, and the news that tells the webhook of changes of
 * configs.
 */
export function openAlerting(
  config: Pick<
    Config,
    'disconnectGraceMs' | 'minAgentVersion' | 'onlyPasswordLogin' | 'publicUrl' | 'webhookUrl'
  >,
  parts: Pick<FleetGround, 'clock' | 'db' | 'log' | 'random'> & {
    fleet: Fleet
    notices: AlertNotices
    network: WebhookNetwork
    recommendedVersion: { readonly version: string }
    findConflicts: AlertEngineParts['findConflicts']
  },
): { alerts: AlertEngine; webhooks: WebhookDeliveries; news: ChangeNews } {
  const { db, clock, random, log, fleet, notices, network } = parts
  const { minAgentVersion } = config
  const problem = minAgentVersionProblem(minAgentVersion)
  if (problem !== null) log.warn({}, problem)
  const webhooks = new WebhookDeliveries({ db, clock, random, log, url: config.webhookUrl, network })
  const alerts = new AlertEngine({
    db,
    clock,
    random,
    log,
    fleet,
    notices,
    findConflicts: parts.findConflicts,
    findHalts: listHaltsNow,
    findPolicyNews: readPolicyNews,
    onlyPasswordLogin: config.onlyPasswordLogin,
    settings: {
      // Administrators may recommend another version while the engine runs.
      get minAgentVersion() {
        return parts.recommendedVersion.version
      },
      disconnectGraceSeconds: Math.round(config.disconnectGraceMs / 1000),
    },
    webhooks,
  })
  const { publicUrl } = config
  const news = openChangeNews({ clock, webhooks, publicUrl })
  return { alerts, webhooks, news }
}
