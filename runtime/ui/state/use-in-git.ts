import type { ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import { api } from './endpoints.ts'
import { type Resource, touchesWorkload, useResource } from './use-resource.ts'

/** What owners in Git keep and ask for of a workload. */
export interface InGit {
  /** Who keeps its config; null where nobody does, and until the server has answered. */
  kept: ManagedConfigRecord | null
  /** Where the workload stands among fleet configs, of which Git may keep the one that it is under. */
  standing: FleetStanding | null
  /** The owner that keeps it, by itself or by its fleet config; null for none. */
  keptBy: string | null
  /** What is asked for and accepted by nobody yet. */
  wished: readonly ManagedConfigRecord[]
  reload: () => void
}

/** Read what owners in Git keep and ask for of a workload, which stands so among fleet configs. */
export function useInGit(
  workloadId: string,
  standing: Pick<Resource<FleetStanding>, 'data' | 'reload'>,
): InGit {
  const { data, reload } = useResource(
    `managed:${workloadId}`,
    (abort) => api.managed(workloadId, abort),
    touchesWorkload(workloadId),
  )
  const kept = data?.find(({ accepted }) => accepted) ?? null
  return {
    kept,
    standing: standing.data,
    keptBy: kept?.owner ?? standing.data?.kept_in_git?.owner ?? null,
    wished: (data ?? []).filter(({ accepted }) => !accepted),
    reload() {
      reload()
      standing.reload()
    },
  }
}
