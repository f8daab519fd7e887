import { useSignal } from '@preact/signals'
import type { ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { FleetConfigRecord } from '../../../lib/wire/fleet-configs.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { api } from '../state/endpoints.ts'
import { touchesWorkload, useResource } from '../state/use-resource.ts'
import { HandOver } from './hand-over.tsx'

/** Who keeps a workload's config in Git; null where nobody does, and until the server has answered. */
export function useManaged(workloadId: string): ManagedConfigRecord | null {
  const managed = useResource(
    `managed:${workloadId}`,
    (abort) => api.managed(workloadId, abort),
    touchesWorkload(workloadId),
  )
  return managed.data?.find(({ accepted }) => accepted) ?? null
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
  const heir = useSignal<string | null>(null)
  if (managed === null) return null
  const owner = heir.value ?? managed.owner
  const { commit_sha: commit = '', commit_author: author = '' } = managed
  const differs = managed.config_hash !== workload.active_config_hash
  return (
    <div class={`notice ${differs ? 't-warn' : 't-idle'}`} role="status">
      <div>
        {words.kept(owner, shortHash(commit), author)} {differs && `${words.differs} `}
        {words.changeThere}
      </div>
      <HandOver
        owner={owner}
        only={{ workload_ids: [workload.id] }}
        onDone={(to) => {
          heir.value = to
        }}
      />
    </div>
  )
}

/** Says that a fleet config is kept in Git, by whom, and which version is asked for. */
export function FleetGitNotice({ id, managed }: Pick<FleetConfigRecord, 'id' | 'managed'>) {
  const words = say(gitTexts)
  const heir = useSignal<string | null>(null)
  if (managed === undefined) return null
  const owner = heir.value ?? managed.owner
  const { version, commit_sha: commit = '', commit_author: author = '' } = managed
  return (
    <div class="notice t-idle" role="status">
      <div>
        {words.fleetKept(owner, shortHash(commit), author)} {words.fleetVersion(version)}{' '}
        {words.fleetChangeThere}
      </div>
      <HandOver
        owner={owner}
        only={{ fleet_config_ids: [id] }}
        onDone={(to) => {
          heir.value = to
        }}
      />
    </div>
  )
}

/** Why a fleet config is not changed from here; null where it is. */
export const keptElsewhere = ({ managed }: Pick<FleetConfigRecord, 'managed'>): string | null =>
  managed === undefined ? null : say(gitTexts).fleetReadOnly
