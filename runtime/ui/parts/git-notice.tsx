import type { ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { api } from '../state/endpoints.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'

/** Who keeps a workload's config in Git; null where nobody does, and until the server has answered. */
export function useManaged(workloadId: string): ManagedConfigRecord | null {
  const managed = useResource(
    `managed:${workloadId}`,
    (abort) => api.managed(workloadId, abort),
    touchesWorkload(workloadId),
  )
  return managed.data?.[0] ?? null
}

/** Says that a config is kept in Git, by whom, and whether what is active differs. */
export function GitNotice({
  workload,
  managed,
}: {
  workload: WorkloadRecord
  managed: ManagedConfigRecord | null
}) {
  const words = say(gitTexts)
  if (managed === null) return null
  const { owner, commit_sha: commit = '', commit_author: author = '' } = managed
  const differs = managed.config_hash !== workload.active_config_hash
  return (
    <div class={differs ? 'notice t-warn' : 'notice'} role="status">
      <div>
        {words.kept(owner, shortHash(commit), author)} {differs && `${words.differs} `}
        {words.changeThere}
      </div>
    </div>
  )
}

/** Says that a fleet config is kept in Git, by whom, and which version is asked for. */
export function FleetGitNotice({ managed }: { managed: FleetConfigRecord['managed'] }) {
  const words = say(gitTexts)
  if (managed === undefined) return null
  const { owner, version, commit_sha: commit = '', commit_author: author = '' } = managed
  return (
    <div class="notice" role="status">
      <div>
        {words.fleetKept(owner, shortHash(commit), author)} {words.fleetVersion(version)}{' '}
        {words.fleetChangeThere}
      </div>
    </div>
  )
}

/** Why a fleet config is not changed from here; null where it is. */
export const keptElsewhere = ({ managed }: Pick<FleetConfigRecord, 'managed'>): string | null =>
  managed === undefined ? null : say(gitTexts).fleetReadOnly
