import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { api } from '../state/endpoints.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** That a version was carried before and taken back, with the campaign that took it back. */
export function TakenBack({ number, by }: { number: number; by: string | undefined }) {
  const words = say(fleetConfigTexts)
  return (
    <p class="warn">
      {words.wasRolledBack(number)}{' '}
      {by !== undefined && (
        <a class="link" href={`/campaigns/${by}`}>
          {words.tookBack}
        </a>
      )}
    </p>
  )
}

/** The same of a version of which only the number is known; nothing where it was not taken back. */
export function TakenBackVersion({ fleetConfigId, number }: { fleetConfigId: string; number: number }) {
  // Whether a workload under it lies within the scope, the service knows.
  const version = useResource(
    may('config:read_content') ? `fleet-config-version:${fleetConfigId}:${number}` : null,
    (abort) => api.fleetConfigVersion(fleetConfigId, number, abort),
  )
  return version.data?.rolled_back ? <TakenBack number={number} by={version.data.rolled_back_by} /> : null
}
