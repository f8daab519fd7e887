import { useSignal } from '@preact/signals'
import type { ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import type { FleetConfigRecord, FleetStanding } from '../../../lib/wire/fleet-configs.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { gitTexts } from '../i18n/git.ts'
import { api } from '../state/endpoints.ts'
import { useDialog } from '../state/use-dialog.ts'
import type { InGit } from '../state/use-in-git.ts'
import { Action, unless } from './controls.tsx'
import { describeFailure } from './failure.tsx'
import { FormDialog } from './form.tsx'
import { HandOver } from './hand-over.tsx'
import { standsToGit, tellFleetKeeper } from './kept-in-git.tsx'
import { toast } from './toast.tsx'

/** Says who keeps a workload's config in Git, and who asks for one there. */
export function GitNotice({ workload, git }: { workload: WorkloadRecord; git: InGit }) {
  const shown = git.wished.slice(0, WISHES_SHOWN)
  const more = git.wished.length - shown.length
  return (
    <>
      <Kept workload={workload} managed={git.kept} />
      {git.kept === null && <KeptByFleet standing={git.standing} reload={git.reload} />}
      {shown.map((wish) => (
        <Wished key={wish.owner} wish={wish} reload={git.reload} />
      ))}
      {more > 0 && <p class="muted">{say(gitTexts).wishedMore(more)}</p>}
    </>
  )
}

/** So many wishes are told one by one. */
const WISHES_SHOWN = 5

/** Says what an owner in Git asks for that nobody has accepted yet, with the ways to give it to another or to let go of it. */
function Wished({ wish, reload }: { wish: ManagedConfigRecord; reload: () => void }) {
  const words = say(gitTexts)
  const { owner, workload_id: id, commit_sha: commit = '', commit_author: author = '' } = wish
  const { about, open, close } = useDialog<true>()
  const error = useSignal<string | null>(null)
  const letGo = async () => {
    const result = await api.letGo(id, owner)
    error.value = result.ok ? null : describeFailure(result)
    if (!result.ok) return
    toast(words.gone)
    close()
    reload()
  }
  return (
    <div class="notice t-idle" role="status">
      <div>{words.wished(owner, shortHash(commit), author)}</div>
      <HandOver owner={owner} only={{ workload_ids: [id] }} onDone={reload} />
      <Action
        kind="plain"
        reason={unless('workload:push_config') ?? unless('config:break_glass')}
        onClick={() => open(true)}
      >
        {words.letGo}
      </Action>
      {about !== null && (
        <FormDialog title={words.letGo} send={words.letGoNow} onSend={letGo} onClose={close}>
          <p>{words.letGoLead(owner)}</p>
          {error.value !== null && (
            <p class="bad" role="alert">
              {error.value}
            </p>
          )}
        </FormDialog>
      )}
    </div>
  )
}

/** Says that a config is kept in Git, by whom, and whether what is active differs. */
function Kept({ workload, managed }: { workload: WorkloadRecord; managed: ManagedConfigRecord | null }) {
  const words = say(gitTexts)
  const heir = useSignal<string | null>(null)
  if (managed === null) return null
  const owner = heir.value ?? managed.owner
  const { commit_sha: commit = '', commit_author: author = '' } = managed
  const standing = standsToGit(workload, managed)
  return (
    <div class={`notice ${standing === 'differs' ? 't-warn' : 't-idle'}`} role="status">
      <div>
        {words.kept(owner, shortHash(commit), author)} {words.standing[standing]} {words.changeThere}
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

/** Says that the fleet config by which a workload got what it runs is kept in Git, by whom, and whether that runs. */
function KeptByFleet({ standing, reload }: { standing: FleetStanding | null; reload: () => void }) {
  const words = say(gitTexts)
  const told = tellFleetKeeper(standing)
  const { fleet_config: config, kept_in_git: keeper } = standing ?? {}
  if (told === null || config === undefined || keeper === undefined) return null
  return (
    <div class={`notice ${told.differs === '' ? 't-idle' : 't-warn'}`} role="status">
      <div>
        <a class="link" href={`/fleet-configs/${config.id}`}>
          {told.kept}
        </a>{' '}
        {told.differs} {words.changeThere}
      </div>
      <HandOver owner={keeper.owner} only={{ fleet_config_ids: [config.id] }} onDone={reload} />
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

/** Why a version of a fleet config is not carried to workloads from here; null where it is. */
export const carriedElsewhere = (
  { managed }: Pick<FleetConfigRecord, 'managed'>,
  number: number,
): string | null =>
  managed === undefined || managed.version === number ? null : say(gitTexts).fleetOther(managed.version)

/** Why a fleet config is not changed from here; null where it is. */
export const keptElsewhere = ({ managed }: Pick<FleetConfigRecord, 'managed'>): string | null =>
  managed === undefined ? null : say(gitTexts).fleetReadOnly
