import { isOpen } from '../../../lib/model/workload-states.ts'
import type { ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { useInGit } from '../state/use-in-git.ts'
import type { Resource } from '../state/use-resource.ts'

/** How what is active stands to what Git asks for: it is that, it is on its way there, or it is something else. */
export function standsToGit(
  { active_config_hash: active, current_config_push: push }: WorkloadRecord,
  { config_hash: wanted }: ManagedConfigRecord,
): 'same' | 'under_way' | 'differs' {
  if (push !== undefined && push.config_hash === wanted && isOpen(push)) return 'under_way'
  return active === wanted ? 'same' : 'differs'
}

/** In words who keeps a workload in Git by its fleet config, and whether something else runs; null where nobody does. */
export function tellFleetKeeper(among: FleetStanding | null): { kept: string; differs: string } | null {
  const words = say(gitTexts)
  const { fleet_config: config, kept_in_git: keeper } = among ?? {}
  if (config === undefined || keeper === undefined) return null
  const { owner, commit_sha: commit = '', commit_author: author = '', overruled } = keeper
  return {
    kept: words.keptByFleet(config.name, owner, shortHash(commit), author),
    differs: overruled === undefined ? '' : words.standing.differs,
  }
}

/** A workload, and where it stands among fleet configs. */
export interface KeptInGitProps {
  workload: WorkloadRecord
  standing: Resource<FleetStanding>
}

/** One line on a workload's first page where its config is kept in Git; the whole stands with its configuration. */
export function KeptInGit({ workload, standing: among }: KeptInGitProps) {
  const words = say(gitTexts)
  const { kept } = useInGit(workload.id, among)
  const told = kept === null ? tellFleetKeeper(among.data) : null
  if (told !== null)
    return (
      <p class={told.differs === '' ? 'muted' : 'warn'}>
        <a class="link" href={`/workloads/${workload.id}/configuration`}>
          {told.kept}
        </a>{' '}
        {told.differs}
      </p>
    )
  if (kept === null) return null
  const standing = standsToGit(workload, kept)
  return (
    <p class={standing === 'differs' ? 'warn' : 'muted'}>
      <a class="link" href={`/workloads/${workload.id}/configuration`}>
        {words.kept(kept.owner, shortHash(kept.commit_sha ?? ''), kept.commit_author ?? '')}
      </a>{' '}
      {words.standing[standing]}
    </p>
  )
}
