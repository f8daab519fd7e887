import { useSignal } from '@preact/signals'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type {
  RecommendedVersion,
  UnsupportedComponent,
  VersionOverview,
} from '../../../lib/wire/version-intelligence.ts'
import { translated } from '../i18n/check-findings.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { describeVersions } from '../i18n/fleet.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { postureTexts } from '../i18n/posture.ts'
import { Capped } from '../parts/capped.tsx'
import { Action, ActionLink, bind, TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { toast, toastFailure } from '../parts/toast.tsx'
import { WorkloadName } from '../parts/workload-link.tsx'
import { api } from '../state/endpoints.ts'
import { soonFor } from '../state/refetch.ts'
import { hrefWith, query } from '../state/router.ts'
import { may } from '../state/session.ts'
import { type Resource, useResource } from '../state/use-resource.ts'

/** A collector of the answer as a link. */
function RowName({
  of: { workload_id: id, display_name: name, place },
}: {
  of: { workload_id: string; display_name?: string | undefined; place?: string | undefined }
}) {
  return <WorkloadName name={name || id} place={place} href={`/workloads/${id}`} />
}

const STANDING = {
  not_applicable: ['idle', 'dot'],
  unknown: ['idle', 'ring'],
  below_recommended: ['warn', 'triangle'],
  at_recommended: ['ok', 'tick'],
  above_recommended: ['ok', 'tick'],
} as const

function Standing({ of }: { of: keyof typeof STANDING }) {
  const [tone, shape] = STANDING[of]
  return (
    <Mark tone={tone} shape={shape}>
      {say(postureTexts).standing[of]}
    </Mark>
  )
}

/** How many collectors run which version, as bars and in numbers. */
function Matrix({ of }: { of: VersionOverview }) {
  const words = say(postureTexts)
  const { shares } = of
  const total = of.counts.all
  // With nothing recommended there is nothing to stand against.
  const isCompared = shares.some(({ standing }) => standing !== 'unknown')
  return (
    <section>
      <h2>{words.matrix}</h2>
      <Sheet
        isStacked
        label={words.matrix}
        head={
          <>
            <th scope="col">{words.column.version}</th>
            {isCompared && <th scope="col">{words.column.standing}</th>}
            <th scope="col">{words.column.count}</th>
            <th scope="col">{words.column.group}</th>
          </>
        }
      >
        <Capped rows={shares}>
          {(share) => (
            <tr key={share.version}>
              <td class="mono">
                <a href={`/?q=${encodeURIComponent(`version:${share.version}`)}`}>{share.version}</a>
              </td>
              {isCompared && (
                <td>
                  <Standing of={share.standing} />
                </td>
              )}
              <td>
                <div class="share">
                  <span class="share-bar" aria-hidden="true">
                    <i style={{ width: `${(100 * share.count) / Math.max(1, total)}%` }} />
                  </span>
                  <span>{words.share(share.count, total)}</span>
                  {share.mixed_count > 0 && <span class="muted">{words.partly(share.mixed_count)}</span>}
                </div>
              </td>
              <td class="text muted">
                {share.groups.map(({ group, count }) => `${group} (${formatNumber(count)})`).join(', ')}
                {share.group_count > share.groups.length &&
                  ` ${words.moreGroups(share.group_count - share.groups.length)}`}
              </td>
            </tr>
          )}
        </Capped>
      </Sheet>
    </section>
  )
}

function Blocks({ of }: { of: VersionOverview }) {
  const words = say(postureTexts)
  const { first: blocked, count } = of.rows
  return (
    <section>
      <h2>{words.shown[of.show]}</h2>
      {blocked.length === 0 ? (
        <p class="muted">{of.show === 'cannot' ? words.nothingBlocks : words.nobodySuch}</p>
      ) : (
        <Sheet
          isStacked
          label={words.shown[of.show]}
          head={
            <>
              <th scope="col">{words.column.workload}</th>
              <th scope="col">{words.column.version}</th>
              <th scope="col">{words.column.blocks}</th>
              <th scope="col">{words.column.config}</th>
            </>
          }
        >
          <Capped rows={blocked}>
            {(row) => (
              <tr key={row.workload_id}>
                <td>
                  <RowName of={row} />
                </td>
                <td class="mono">{describeVersions(row.version.reported, row.version.mix)}</td>
                <td class="text">
                  {row.blocking_reasons.map((reason) => (
                    <div key={reason.code + reason.message}>
                      {translated(words.block, reason.code, reason.message)}
                    </div>
                  ))}
                </td>
                <td class="mono muted" data-label={words.column.config}>
                  {shortHash(row.config.hash) || '–'}
                </td>
              </tr>
            )}
          </Capped>
        </Sheet>
      )}
      <Told first={blocked.length} count={count} />
    </section>
  )
}

/** That a list is longer than what was told of it. */
function Told({ first, count }: { first: number; count: number }) {
  return count > first ? <p class="muted">{say(commonTexts).firstOf(first, count)}</p> : null
}

/** What to do about it, workload by workload. */
function Recommendations({ of }: { of: VersionOverview }) {
  const words = say(postureTexts)
  const { first, count } = of.recommendations
  if (count === 0) return null
  return (
    <section>
      <h2>{words.todo}</h2>
      <Sheet
        isStacked
        label={words.todo}
        head={
          <>
            <th scope="col">{words.column.workload}</th>
            <th scope="col">{words.column.todo}</th>
            <th scope="col">{words.column.component}</th>
            <th scope="col">{words.column.config}</th>
          </>
        }
      >
        <Capped rows={first}>
          {(row) => (
            <tr key={`${row.workload_id}${row.action}${row.config_hash}${row.components?.join()}`}>
              <td>{row.workload_id ? <RowName of={{ ...row, workload_id: row.workload_id }} /> : '–'}</td>
              <td class="text">
                {words.recommendation[row.action]}{' '}
                {row.action === 'upgrade_collector' && row.version?.mix && (
                  <span class="muted">{describeVersions(row.version.reported, row.version.mix)}</span>
                )}
              </td>
              <td class="mono" data-label={words.column.component}>
                {row.components?.join(', ') ?? '–'}
              </td>
              <td class="mono muted" data-label={words.column.config}>
                {shortHash(row.config_hash) || '–'}
              </td>
            </tr>
          )}
        </Capped>
      </Sheet>
      <Told first={first.length} count={count} />
    </section>
  )
}

/** The recommended version, who set it, and a field for those who may change it. */
function Recommended({ of, onStored }: { of: RecommendedVersion; onStored: () => void }) {
  const words = say(postureTexts)
  const wanted = useSignal(of.source === 'stored' ? of.version : '')
  const isBusy = useSignal(false)
  const stored = of.source === 'stored' ? of.version : ''
  const submit = async () => {
    if (isBusy.value) return
    isBusy.value = true
    const result = await api.recommendVersion(wanted.value.trim())
    isBusy.value = false
    if (!result.ok) return toastFailure(result)
    toast(words.recommendedSaved)
    onStored()
  }
  const from =
    of.source === 'stored'
      ? words.recommendedSource.stored(of.updated_by ?? '?')
      : words.recommendedSource[of.source]
  return (
    <>
      <p class="muted">{of.version === '' ? from : `${words.recommendedIs(of.version)} · ${from}`}</p>
      {may('settings:manage') && (
        // Where a version is recommended, the page begins with how the fleet stands to it.
        <details class="spaced" open={of.version === ''}>
          <summary>{words.recommendedChange}</summary>
          <form
            class="form"
            style={{ margin: '12px 0' }}
            onSubmit={(event) => {
              event.preventDefault()
              if (wanted.value.trim() !== stored) void submit()
            }}
          >
            <TextField label={words.recommended} hint={words.recommendedHint} {...bind(wanted)} />
            <div class="actions">
              <Action isSubmit reason={wanted.value.trim() === stored ? words.recommendedSame : null}>
                {words.recommendedSave}
              </Action>
            </div>
          </form>
        </details>
      )}
    </>
  )
}

function Counts({ of }: { of: VersionOverview }) {
  const words = say(postureTexts)
  const counts = [
    ['all', () => words.total],
    ['can', words.runnable],
    ['cannot', words.notRunnable],
    ['unknown', words.unknown],
    ['unassigned', words.noConfig],
  ] as const
  return (
    <div class="quant">
      {counts.map(([id, name]) => (
        <a
          key={id}
          href={hrefWith({ show: id === 'all' || id === 'cannot' ? null : id })}
          aria-current={id === of.show ? 'true' : undefined}
        >
          <b>{formatNumber(of.counts[id])}</b>
          {name(of.counts[id])}
        </a>
      ))}
    </div>
  )
}

function unsupportedColumns(): TableColumn<UnsupportedComponent>[] {
  const { column } = say(postureTexts)
  return [
    {
      title: column.workload,
      cell: (row) => <RowName of={row} />,
    },
    { title: column.component, look: 'mono', cell: (row) => `${row.category}/${row.component_type}` },
    { title: column.config, look: 'mono muted', cell: (row) => shortHash(row.config_hash) },
  ]
}

/** Components of configs that the collectors there do not have. */
function Unsupported({ of: { first: rows, count } }: { of: VersionOverview['unsupported'] }) {
  const words = say(postureTexts)
  if (rows.length === 0) return null
  return (
    <section>
      <h2>{words.unsupported}</h2>
      <Table
        label={words.unsupported}
        columns={unsupportedColumns()}
        rows={rows}
        keyOf={(row) => `${row.workload_id}${row.config_hash}${row.path}`}
      />
      <Told first={rows.length} count={count} />
    </section>
  )
}

/** What a workload runs, and that another version is recommended, is told by the workloads. */
const touchesVersions = ({ type }: HubFrame): boolean =>
  type === 'workload_update' || type === 'workload_removed'

/** All of the fleet is assessed anew for it, and some workload is told of all the time: far less often than it is counted. */
const SOON_MS = 5_000
const soonForVersions = (known: VersionOverview | null): number => SOON_MS + soonFor(known?.counts.all ?? 0)

/** The fleet against the recommended version, and what stands in the way. */
export function VersionsPage() {
  const words = say(postureTexts)
  // The address may name another version to compare the fleet with; nothing is stored by that.
  const asked = query.value.get('recommended')
  const show = query.value.get('show')
  const versions: Resource<VersionOverview> = useResource(
    `versions:${asked ?? ''}:${show ?? ''}`,
    (abort) => api.versions(asked, show, abort),
    touchesVersions,
    () => soonForVersions(versions.data),
  )
  const recommended = useResource(
    'recommended-version',
    (abort) => api.recommendedVersion(abort),
    touchesVersions,
    () => soonForVersions(versions.data),
  )
  const reload = () => {
    versions.reload()
    recommended.reload()
  }
  return (
    <>
      <Head title={words.versions} />
      <Loaded of={recommended}>
        {(data) => <Recommended key={data.version} of={data} onStored={reload} />}
      </Loaded>
      {asked !== null && (
        <div class="say t-warn" role="status">
          <p>
            <strong>{words.asked(asked)}</strong> {words.askedMore}
          </p>
          <ActionLink href="/versions">{words.askedBack}</ActionLink>
        </div>
      )}
      <Loaded of={versions}>
        {(data) =>
          data.counts.all === 0 ? (
            <p class="empty">{words.noCollectors}</p>
          ) : (
            <div class="stack" style={{ gap: '32px' }}>
              <Counts of={data} />
              <Matrix of={data} />
              <Blocks of={data} />
              <Recommendations of={data} />
              <Unsupported of={data.unsupported} />
            </div>
          )
        }
      </Loaded>
    </>
  )
}
