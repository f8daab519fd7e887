import type { VersionIntelligence } from '../../../lib/wire/version-intelligence.ts'
import { translated } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { formatNumber, shortHash } from '../i18n/format.ts'
import { postureTexts } from '../i18n/posture.ts'
import { compareVersions } from '../logic/workloads.ts'
import { Capped } from '../parts/capped.tsx'
import { TextField } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head, Sheet } from '../parts/page.tsx'
import { Mark, StatusMark } from '../parts/state.tsx'
import { api } from '../state/endpoints.ts'
import { query, setQuery } from '../state/router.ts'
import { useDebounced } from '../state/use-debounced.ts'
import { useResource } from '../state/use-resource.ts'

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

function Matrix({ of }: { of: VersionIntelligence }) {
  const words = say(postureTexts)
  const rows = [...of.version_matrix].sort(
    (a, b) => a.group.localeCompare(b.group) || compareVersions(a.version, b.version),
  )
  return (
    <section>
      <h2>{words.matrix}</h2>
      <Sheet
        label={words.matrix}
        head={
          <>
            <th scope="col">{words.column.group}</th>
            <th scope="col">{words.column.version}</th>
            <th scope="col">{words.column.standing}</th>
            <th scope="col">{words.column.status}</th>
            <th scope="col" class="n">
              {words.column.count}
            </th>
          </>
        }
      >
        <Capped rows={rows}>
          {(row) => (
            <tr key={`${row.group}${row.type}${row.status}${row.version}`}>
              <td>{row.group}</td>
              <td class="mono">{row.version}</td>
              <td>
                <Standing of={row.version_status} />
              </td>
              <td>
                <StatusMark status={row.status as 'connected'} />
              </td>
              <td class="n">
                <a href={`/?q=${encodeURIComponent(`version:${row.version}`)}`}>{formatNumber(row.count)}</a>
              </td>
            </tr>
          )}
        </Capped>
      </Sheet>
    </section>
  )
}

function Blocks({ of }: { of: VersionIntelligence }) {
  const words = say(postureTexts)
  const blocked = of.compatibility_matrix.filter((row) => !row.runnable)
  return (
    <section>
      <h2>{words.blocks}</h2>
      {blocked.length === 0 ? (
        <p class="muted">{words.nothingBlocks}</p>
      ) : (
        <Sheet
          label={words.blocks}
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
                  <a class="name" href={`/workloads/${row.workload_id}`}>
                    {row.display_name || row.workload_id}
                  </a>
                </td>
                <td class="mono">{row.version.reported}</td>
                <td class="text">
                  {row.blocking_reasons.map((reason) => (
                    <div key={reason.code + reason.message}>
                      {translated(words.block, reason.code, reason.message)}
                    </div>
                  ))}
                </td>
                <td class="mono muted">{shortHash(row.config.hash) || '–'}</td>
              </tr>
            )}
          </Capped>
        </Sheet>
      )}
    </section>
  )
}

/** What to do about it, workload by workload. */
function Recommendations({ of }: { of: VersionIntelligence }) {
  const words = say(postureTexts)
  const names = new Map(of.compatibility_matrix.map((row) => [row.workload_id, row.display_name]))
  if (of.recommendations.length === 0) return null
  return (
    <section>
      <h2>{words.todo}</h2>
      <Sheet
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
        <Capped rows={of.recommendations}>
          {(row) => (
            <tr key={`${row.workload_id}${row.action}${row.config_hash}${row.components?.join()}`}>
              <td>
                {row.workload_id ? (
                  <a class="name" href={`/workloads/${row.workload_id}`}>
                    {names.get(row.workload_id) || row.workload_id}
                  </a>
                ) : (
                  '–'
                )}
              </td>
              <td class="text">{words.recommendation[row.action]}</td>
              <td class="mono">{row.components?.join(', ') ?? '–'}</td>
              <td class="mono muted">{shortHash(row.config_hash) || '–'}</td>
            </tr>
          )}
        </Capped>
      </Sheet>
    </section>
  )
}

/** The fleet against a recommended version, and what stands in the way. */
export function VersionsPage() {
  const words = say(postureTexts)
  const recommended = query.value.get('recommended') ?? ''
  const rested = useDebounced(recommended, 350)
  const versions = useResource(`versions:${rested}`, (abort) => api.versions(rested, abort))
  return (
    <>
      <Head title={words.versions} />
      <div class="form" style={{ margin: '20px 0' }}>
        <TextField
          label={words.recommended}
          hint={words.recommendedHint}
          value={recommended}
          onValue={(value) => setQuery({ recommended: value })}
        />
      </div>
      <Loaded of={versions}>
        {(data) =>
          data.version_matrix.length === 0 ? (
            <p class="empty">{words.noCollectors}</p>
          ) : (
            <div class="stack" style={{ gap: '32px' }}>
              <div class="quant">
                <span>
                  <b>{formatNumber(data.compatibility_summary.total_collectors)}</b>
                  {words.total}
                </span>
                <span>
                  <b>{formatNumber(data.compatibility_summary.runnable_count)}</b>
                  {words.runnable}
                </span>
                <span>
                  <b>{formatNumber(data.compatibility_summary.not_runnable_count)}</b>
                  {words.notRunnable}
                </span>
              </div>
              <Matrix of={data} />
              <Blocks of={data} />
              <Recommendations of={data} />
              {data.unsupported_config_components.length > 0 && (
                <section>
                  <h2>{words.unsupported}</h2>
                  <Sheet
                    label={words.unsupported}
                    head={
                      <>
                        <th scope="col">{words.column.workload}</th>
                        <th scope="col">{words.column.component}</th>
                        <th scope="col">{words.column.config}</th>
                      </>
                    }
                  >
                    <Capped rows={data.unsupported_config_components}>
                      {(row) => (
                        <tr key={`${row.workload_id}${row.config_hash}${row.path}`}>
                          <td>
                            <a class="name" href={`/workloads/${row.workload_id}`}>
                              {row.display_name || row.workload_id}
                            </a>
                          </td>
                          <td class="mono">
                            {row.category}/{row.component_type}
                          </td>
                          <td class="mono muted">{shortHash(row.config_hash)}</td>
                        </tr>
                      )}
                    </Capped>
                  </Sheet>
                </section>
              )}
            </div>
          )
        }
      </Loaded>
    </>
  )
}
