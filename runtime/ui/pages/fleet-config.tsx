import { useSignal } from '@preact/signals'
import type { FleetConfigRecord, FleetConfigVersionSummary } from '../../../lib/wire/fleet-configs.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { fleetConfigTexts } from '../i18n/fleet-configs.ts'
import { Action, ActionLink, bind, Checkbox, TextField, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { FormDialog } from '../parts/form.tsx'
import { carriedElsewhere, FleetGitNotice, keptElsewhere } from '../parts/git-notice.tsx'
import { KeptBy } from '../parts/kept-by.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Head } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { toastFailure } from '../parts/toast.tsx'
import { TakenBack } from '../parts/version-taken-back.tsx'
import { api } from '../state/endpoints.ts'
import { navigate, query } from '../state/router.ts'
import { may } from '../state/session.ts'
import { useDialog } from '../state/use-dialog.ts'
import { useResource } from '../state/use-resource.ts'
import { AutoApplySection } from './fleet-config-auto-apply.tsx'
import { VersionView } from './fleet-config-version.tsx'
import { countRunning, UnderConfig, useUnder } from './fleet-config-workloads.tsx'
import { SelectorChips } from './fleet-configs.tsx'

interface CarryProps {
  of: FleetConfigRecord
  number: number
  /** What is known of the version; undefined for whoever may not read configs. */
  version: FleetConfigVersionSummary | undefined
  /** How many workloads run this version already; null where that is not known. */
  running: number | null
}

/** Make a campaign that carries one version to all workloads under the fleet config, plan it, and go to it. */
async function carry({ of, number }: Pick<CarryProps, 'of' | 'number'>, takeover: boolean): Promise<void> {
  const made = await api.createCampaign({
    name: say(fleetConfigTexts).carryName(of.name.slice(0, 100), number),
    description: '',
    change: { kind: 'version', fleet_config_id: of.id, number, takeover },
    scope: {},
  })
  if (!made.ok) return toastFailure(made)
  const planned = await api.planCampaign(made.value.id)
  if (!planned.ok) toastFailure(planned)
  navigate(`/campaigns/${made.value.id}`)
}

/** The way to bring one version to all workloads under the fleet config, or to those that do not run it yet. */
function Carry({ of, number, version, running }: CarryProps) {
  const words = say(fleetConfigTexts)
  const takeover = useSignal(false)
  const isBusy = useSignal(false)
  const elsewhere = carriedElsewhere(of, number)
  const nobody =
    elsewhere ?? (of.workload_count > 0 ? null : of.kept_by === undefined ? words.nobody : words.allKept)
  const rest = running === null || running === 0 ? null : Math.max(0, of.workload_count - running)
  const start = async () => {
    if (isBusy.value) return
    isBusy.value = true
    await carry({ of, number }, takeover.value)
    isBusy.value = false
  }
  return (
    <section class="pane stack" aria-label={words.carryTitle}>
      <h2>{words.carryTitle}</h2>
      <KeptBy of={of} />
      <p>{words.underCount(of.workload_count)}</p>
      {version?.rolled_back && <TakenBack number={number} by={version.rolled_back_by} />}
      <Checkbox
        value={takeover.value}
        onValue={(isOn) => {
          takeover.value = isOn
        }}
      >
        {words.takeover}
      </Checkbox>
      <div class="actions">
        <Action
          kind={version?.rolled_back || (running ?? 0) > 0 ? '' : 'primary'}
          reason={unless('config:request') ?? nobody ?? (rest === 0 ? words.allRunIt(number) : null)}
          onClick={() => void start()}
        >
          {rest === null ? words.carry(number) : words.carryRest(number, rest)}
        </Action>
        <ActionLink
          href={`/campaigns/new?fleet_config=${of.id}&version=${number}`}
          reason={unless('config:request') ?? nobody}
        >
          {words.carryOwn}
        </ActionLink>
      </div>
      <p class="muted">{words.carryHint}</p>
    </section>
  )
}

function Versions({ id, versions }: { id: string; versions: readonly FleetConfigVersionSummary[] }) {
  const words = say(fleetConfigTexts)
  const { column } = words
  return (
    <Table
      label={words.versions}
      rows={versions}
      keyOf={({ number }) => number}
      columns={[
        {
          title: column.version,
          cell: ({ number, rolled_back, rolled_back_by: by }) => (
            <>
              <a class="name" href={`/fleet-configs/${id}?version=${number}`}>
                {words.version(number)}
              </a>
              {rolled_back && (
                <>
                  {' · '}
                  <a class="link warn" href={`/campaigns/${by}`}>
                    {words.rolledBack}
                  </a>
                </>
              )}
            </>
          ),
        },
        { title: column.author, cell: ({ author }) => author },
        { title: column.created, look: 'muted', cell: ({ created_at }) => <Ago at={created_at} /> },
        { title: column.comment, look: 'text', cell: ({ comment }) => comment },
      ]}
    />
  )
}

/** The priority of a fleet config, and the way to another one. */
function Priority({ of, reload }: { of: FleetConfigRecord; reload: () => void }) {
  const words = say(fleetConfigTexts)
  const { about, open, close } = useDialog<true>()
  const wanted = useSignal('')
  const isNumber = /^-?\d{1,7}$/.test(wanted.value.trim())
  const save = async () => {
    const { name, description = '', selector } = of
    const result = await api.updateFleetConfig(of.id, {
      name,
      description,
      selector,
      priority: Number(wanted.value),
    })
    if (!result.ok) return toastFailure(result)
    close()
    reload()
  }
  return (
    <div class="actions">
      <span class="muted">{words.priorityIs(of.priority)}</span>
      <Action
        kind="plain"
        reason={unless('config:create', of) ?? keptElsewhere(of)}
        onClick={() => {
          wanted.value = String(of.priority)
          open(true)
        }}
      >
        {words.priorityChange}
      </Action>
      {about && (
        <FormDialog
          title={words.priorityChange}
          send={say(commonTexts).save}
          onSend={save}
          onClose={close}
          kind="primary"
          reason={isNumber ? null : words.priorityInvalid}
        >
          <p>{words.priorityLead}</p>
          <TextField label={words.priority} hint={words.priorityHint} {...bind(wanted)} type="number" />
        </FormDialog>
      )}
    </div>
  )
}

/** How many run the version that the page is about, and how many are held out of it. */
function Standing({ of, number, running }: Pick<CarryProps, 'of' | 'number' | 'running'>) {
  const words = say(fleetConfigTexts)
  const { workload_count: all, held_count: held } = of
  return (
    <>
      {running !== null && number > 0 && (
        <Mark
          tone={running === all ? 'ok' : running === 0 ? 'idle' : 'busy'}
          shape={running === all ? 'tick' : running === 0 ? 'ring' : 'half'}
        >
          {words.runIt(running, all, number)}
        </Mark>
      )}
      {held > 0 && (
        <Mark tone="warn" shape="dot">
          {words.heldOf(held)}
        </Mark>
      )}
    </>
  )
}

function FleetConfig({ of, reload }: { of: FleetConfigRecord; reload: () => void }) {
  const words = say(fleetConfigTexts)
  // Whether a workload under it lies within the scope, the service knows.
  const isRead = may('config:read_content')
  const versions = useResource(
    isRead && of.newest_version > 0 ? `fleet-config-versions:${of.id}:${of.newest_version}` : null,
    (abort) => api.fleetConfigVersions(of.id, abort),
    ({ type }) => type === 'campaign_update',
  )
  const under = useUnder(of.id)
  const asked = Number(query.value.get('version') ?? '')
  const number = Number.isInteger(asked) && asked > 0 ? asked : of.newest_version
  const shown = versions.data?.find((one) => one.number === number)
  const running = countRunning(under, number)
  return (
    <>
      <Head title={of.name} beside={<Standing of={of} number={number} running={running} />}>
        <ActionLink href="/fleet-configs">← {words.title}</ActionLink>
        <ActionLink
          href={`/fleet-configs/${of.id}/new-version`}
          reason={unless('config:create', of) ?? keptElsewhere(of)}
        >
          {words.newVersion}
        </ActionLink>
      </Head>
      <FleetGitNotice id={of.id} managed={of.managed} />
      {of.description && <p class="muted">{of.description}</p>}
      <div class="facts">
        <SelectorChips of={of.selector} />
        <Priority
          of={of}
          reload={() => {
            reload()
            under.reload()
          }}
        />
      </div>
      {!isRead && <LeftOutFor permission="config:read_content" />}
      {of.newest_version === 0 && <p class="empty">{words.noVersion}</p>}
      {of.newest_version > 0 && <Carry of={of} number={number} version={shown} running={running} />}
      <UnderConfig of={under} newest={of.newest_version} />
      <AutoApplySection of={of} number={number} />
      {isRead && of.newest_version > 0 && (
        <Loaded of={versions}>
          {(all) => (
            <>
              <section class="ground stack tight">
                <h2>{words.versions}</h2>
                <Versions id={of.id} versions={all} />
              </section>
              <VersionView key={number} id={of.id} number={number} versions={all} />
            </>
          )}
        </Loaded>
      )}
    </>
  )
}

/** One fleet config: its versions, and the workloads under it. */
export function FleetConfigPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? ''
  const config = useResource(
    `fleet-config:${id}`,
    (abort) => api.fleetConfig(id, abort),
    (frame) => frame.type === 'campaign_update' || frame.type === 'auto_apply_update',
  )
  return (
    <Loaded of={config} title={say(fleetConfigTexts).title}>
      {(data) => <FleetConfig of={data} reload={config.reload} />}
    </Loaded>
  )
}
