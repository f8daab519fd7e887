import type { ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import { api } from './endpoints.ts'
import { touchesWorkload, useResource } from './use-resource.ts'

/** What owners in Git keep and ask for of a workload. */
export interface InGit {
  /** Who keeps its config; null where nobody does, and until the server has answered. */
  kept: ManagedConfigRecord | null
  /** What is asked for and accepted by nobody yet. */
  wished: readonly ManagedConfigRecord[]
  reload: () => void
}

/** Read what owners in Git keep and ask for of a workload. */
export function useInGit(workloadId: string): InGit {
  const { data, reload } = useResource(
    `managed:${workloadId}`,
    (abort) => api.managed(workloadId, abort),
    touchesWorkload(workloadId),
  )
  const wished = (data ?? []).filter(({ accepted }) => !accepted)
  return { kept: data?.find(({ accepted }) => accepted) ?? null, wished, reload }
}
