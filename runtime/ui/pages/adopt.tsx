import { useSignal } from '@preact/signals'
import type { AdoptCheck, AdoptGroup } from '../../../lib/wire/adopt.ts'
import { adoptTexts } from '../i18n/adopt.ts'
import { campaignTexts } from '../i18n/campaigns.ts'
import { say } from '../i18n/define.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { CodeEditor } from '../parts/code.tsx'
import { Action, ActionLink, bind, TextField, unless } from '../parts/controls.tsx'
import { EditionLine } from '../parts/edition.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toastFailure } from '../parts/toast.tsx'
import { api } from '../state/endpoints.ts'
import { lineOf } from '../state/names.ts'
import { hrefWith, navigate, query } from '../state/router.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

/** Stands in the address for the group whose workloads report nothing in common. */
const UNLIKE = 'none'
const keyOf = ({ reported_config_hash: hash = UNLIKE }: AdoptGroup): string => hash

/** How a text compares with what the group reports; paths only, never values. */
function Verdict({ of }: { of: AdoptCheck }) {
  const words = say(adoptTexts)
  const { effective_matches: verdict, paths } = of
  const text =
    verdict === true ? words.matches : verdict === false ? words.differs(paths.length) : words.unknown
  return (
    <div class={`notice ${verdict === true ? 't-ok' : 't-warn'}`} role="status">
      <div>
        {text}
        {paths.length > 0 && (
          <ul class="mono">
            {paths.slice(0, 20).map((path) => (
              <li key={path}>{path}</li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

/** What is filled in for a group: its text, how that compares, and the campaign's name. */
function useTakeOver(group: AdoptGroup) {
  const words = say(adoptTexts)
  const text = useSignal('')
  const name = useSignal('')
  const checked = useSignal<{ of: string; check: AdoptCheck } | null>(null)
  const isBusy = useSignal(false)
  const hash = group.reported_config_hash ?? ''
  const check = checked.value?.of === text.value ? checked.value.check : null
  const compare = async () => {
    const content = text.value
    const found = await api.checkAdoption({ reported_config_hash: hash, content })
    if (found.ok) checked.value = { of: content, check: found.value }
    else toastFailure(found)
  }
  const send = async () => {
    const members = await api.adoptWorkloads(hash)
    if (!members.ok) return members
    return api.createCampaign({
      name: name.value.trim(),
      description: words.description,
      change: { kind: 'text', yaml: text.value, takeover: true },
      scope: { workload_ids: members.value.map(({ id }) => id) },
    })
  }
  const make = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const made = await send()
    isBusy.value = false
    if (!made.ok) return toastFailure(made)
    const planned = await api.planCampaign(made.value.id)
    if (!planned.ok) toastFailure(planned)
    navigate(`/campaigns/${made.value.id}`)
  }
  const needsText = text.value.trim() === '' ? words.needsText : null
  const reason =
    unless('config:request') ??
    needsText ??
    (hash !== '' && check === null ? words.stale : null) ??
    (name.value.trim() === '' ? words.needsName : null)
  return { text, name, check, compare, make, needsText, reason }
}

/**
 * Give the text of a group's config, compare it with what the group reports, and make the campaign that takes the
 * group over.
 */
function TakeOver({ group }: { group: AdoptGroup }) {
  const words = say(adoptTexts)
  const { text, name, check, compare, make, needsText, reason } = useTakeOver(group)
  return (
    <section class="two" style={{ marginTop: '24px' }}>
      <div class="pane flush">
        <CodeEditor text={text.value} label={words.text} onText={bind(text).onValue} />
      </div>
      <div class="pane stack">
        <p>{words.chosen(group.workload_count, group.instance_count)}</p>
        <div class="notice t-warn">
          <div>{words.noWayBack}</div>
        </div>
        {group.reported_config_hash === undefined ? (
          <p class="muted">{words.cannot}</p>
        ) : (
          <div class="actions">
            <Action onClick={() => void compare()} reason={unless('config:read_content') ?? needsText}>
              {words.compare}
            </Action>
          </div>
        )}
        {check !== null && <Verdict of={check} />}
        <TextField label={words.name} {...bind(name)} maxLength={128} />
        <div class="actions">
          <Action kind="primary" reason={reason} onClick={() => void make()}>
            {words.make}
          </Action>
        </div>
      </div>
    </section>
  )
}

function listColumns(): TableColumn<AdoptGroup>[] {
  const words = say(adoptTexts)
  return [
    {
      title: words.group,
      cell: ({ reported_config_hash: hash }) =>
        hash === undefined ? (
          <span class="muted">{words.unlike}</span>
        ) : (
          <span class="mono">{shortHash(hash)}</span>
        ),
    },
    {
      title: words.workloads,
      look: 'n',
      narrowTitle: words.workloads,
      cell: ({ workload_count: count }) => formatNumber(count),
    },
    {
      title: words.instances,
      look: 'n',
      narrowTitle: words.instances,
      cell: ({ instance_count: count }) => formatNumber(count),
    },
    {
      title: words.names,
      look: 'text',
      cell: ({ workloads }) =>
        workloads
          .slice(0, 5)
          .map(({ display_name: name, id, place }) => lineOf(name || id, place))
          .join(', '),
    },
    {
      title: words.choose,
      isTitleHidden: true,
      cell: (group) => <ActionLink href={hrefWith({ group: keyOf(group) })}>{words.choose}</ActionLink>,
    },
  ]
}

/** Workloads that nothing was ever pushed to, and how they come under management. */
export function AdoptPage() {
  const words = say(adoptTexts)
  const groups = useResource(can('config_safety.campaigns') ? 'adopt' : null, (abort) =>
    api.adoptGroups(abort),
  )
  const wanted = query.value.get('group')
  return (
    <>
      <Head title={words.title}>
        <ActionLink href="/campaigns">← {say(campaignTexts).title}</ActionLink>
      </Head>
      <p class="muted">{words.lead}</p>
      <EditionLine parts={['campaigns']} />
      {can('config_safety.campaigns') && (
        <Loaded of={groups}>
          {(all) => {
            const chosen = all.find((group) => keyOf(group) === wanted)
            if (all.length === 0) return <p class="empty">{words.none}</p>
            return (
              <>
                <Table label={words.title} columns={listColumns()} rows={all} keyOf={keyOf} />
                {chosen !== undefined && <TakeOver key={keyOf(chosen)} group={chosen} />}
              </>
            )
          }}
        </Loaded>
      )}
    </>
  )
}
