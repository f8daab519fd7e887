import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import { say } from '../i18n/define.ts'
import { formatExact, formatList, quoted } from '../i18n/format.ts'
import { standingTexts } from '../i18n/standing.ts'
import { wayOutTexts } from '../i18n/way-out.ts'
import { api } from '../state/endpoints.ts'
import { can } from '../state/session.ts'
import { usePolling } from '../state/use-polling.ts'
import { type Resource, touchesWorkload, useResource } from '../state/use-resource.ts'
import { Action, unless } from './controls.tsx'
import { inForce } from './freeze-notice.tsx'
import { toast, toastFailure } from './toast.tsx'

/** How often it is asked whether a freeze that holds was lifted or moved: no frame tells. */
const POLL_MS = 10_000

/** What keeps a workload from pushes, as it is now: a freeze that is over is no part of it any more. */
export function useStanding(workloadId: string): Resource<FleetStanding> {
  const standing = useResource(
    `standing:${workloadId}`,
    (abort) => api.fleetStanding(workloadId, abort),
    touchesWorkload(workloadId),
  )
  const freeze = inForce(standing.data?.freeze)
  usePolling(freeze !== null, standing.reload, POLL_MS)
  return { ...standing, data: standing.data && { ...standing.data, freeze: freeze ?? undefined } }
}

/**
 * What keeps, or would keep, a workload from campaigns and from pushes: its fleet config, a hold, a freeze. Before a
 * push (`isPush`) also what the push does about it. Nothing where nothing does.
 */
export function FleetStandingNote({
  workloadId,
  standing,
  isPush = false,
  isRollback = false,
  isFreezeTold = false,
}: {
  workloadId: string
  standing: Resource<FleetStanding>
  isPush?: boolean
  /** What goes back is not held up by a freeze. */
  isRollback?: boolean
  /** The page says already that it is frozen. */
  isFreezeTold?: boolean
}) {
  const words = say(standingTexts)
  const { fleet_config: config, rivals = [], hold } = standing.data ?? {}
  const freeze = isFreezeTold ? null : standing.data?.freeze
  if (!config && !hold && !freeze) return null
  const release = async () => {
    const result = await api.release(workloadId)
    if (!result.ok) return toastFailure(result)
    toast(words.released)
    standing.reload()
  }
  return (
    <div class="stack tight" role="note">
      {freeze && (
        <p class="warn">
          {(isRollback ? say(wayOutTexts).frozenBack : words.frozen)(formatExact(freeze.until))}{' '}
          {quoted(freeze.reason)}
        </p>
      )}
      {config && (
        <p>
          {words.under(config.name)} {rivals.length > 0 && words.rivals(formatList(rivals))}{' '}
          {isPush && <b>{words.willHold}</b>}
        </p>
      )}
      {hold && (
        <p>
          {words.held(hold.held_by)} {quoted(hold.reason)} {hold.overdue && <b>{words.overdue}</b>}{' '}
          {!isPush && can('config_safety.campaigns') && (
            <Action reason={unless('workload:push_config')} onClick={() => void release()}>
              {words.release}
            </Action>
          )}
        </p>
      )}
    </div>
  )
}
