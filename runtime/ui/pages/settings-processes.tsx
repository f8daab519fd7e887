import { useRef } from 'preact/hooks'
import type { Cluster, ClusterMember, DepartedMember } from '../../../lib/wire/system.ts'
import { clusterTexts } from '../i18n/cluster.ts'
import { say } from '../i18n/define.ts'
import { formatList, formatNumber } from '../i18n/format.ts'
import { agentsOf, MEMBER_TONES, type MemberState, memberState, versionsOf } from '../logic/cluster.ts'
import { Loaded } from '../parts/failure.tsx'
import { Pairs } from '../parts/page.tsx'
import { Ago, Mark } from '../parts/state.tsx'
import { Table, type TableColumn } from '../parts/table.tsx'
import { api } from '../state/endpoints.ts'
import { usePolling } from '../state/use-polling.ts'
import { useResource } from '../state/use-resource.ts'

/** No frame of the hub tells of changes among the processes, so the server is asked. */
const POLL_MS = 3_000

function StateMark({ of }: { of: ClusterMember }) {
  const state = memberState(of)
  const [tone, shape] = MEMBER_TONES[state]
  return (
    <Mark tone={tone} shape={shape}>
      {say(clusterTexts).state[state]}
    </Mark>
  )
}

type Named = Pick<ClusterMember, 'host' | 'pid' | 'address'>

/** What an operator calls a process: its machine and its number there; and where the others reach it. */
function Name({ of: { host, pid, address, id } }: { of: Named & Pick<ClusterMember, 'id'> }) {
  const words = say(clusterTexts)
  return (
    <span title={id}>
      {host !== '' && <>{words.processAt(host, pid)} </>}
      <span class={host === '' ? 'mono' : 'mono muted small'}>{address}</span>
    </span>
  )
}

/** The same name within a sentence. */
function nameOf({ host, pid, address }: Named): string {
  return host === '' ? address : `${say(clusterTexts).processAt(host, pid)} (${address})`
}

/** Those that went away lately. */
function Departed({ of }: { of: readonly DepartedMember[] }) {
  const words = say(clusterTexts)
  if (of.length === 0) return null
  return (
    <section class="ground stack tight" aria-label={words.departed}>
      <h2>{words.departed}</h2>
      <ul class="list">
        {of.map((one) => (
          <li key={one.id}>
            <Mark tone={one.has_left ? 'idle' : 'bad'} shape="ring">
              {one.has_left ? words.left : words.vanished}
            </Mark>{' '}
            <div>
              <Name of={one} /> · {words.until} <Ago at={one.until} />
            </div>
          </li>
        ))}
      </ul>
      <p class="muted small">{words.departedMore}</p>
    </section>
  )
}

/** What each column and each word says, for whoever sees them for the first time. */
function Legend() {
  const words = say(clusterTexts)
  const { column, explained, state, stateExplained } = words
  const columns = Object.entries(explained) as [keyof typeof explained, string][]
  const states = Object.entries(stateExplained) as [MemberState, string][]
  return (
    <section class="ground stack tight" aria-label={words.legend}>
      <h2>{words.legend}</h2>
      <Pairs
        of={[
          ...states.map(([id, text]): [string, string] => [state[id], text]),
          ...columns.map(([id, text]): [string, string] => [column[id], text]),
        ]}
      />
    </section>
  )
}

const count = (value: number | undefined) => (value === undefined ? '–' : formatNumber(value))

function columns(servedBy: string | null): TableColumn<ClusterMember>[] {
  const { column, servesYou } = say(clusterTexts)
  return [
    {
      title: column.process,
      look: 'name text',
      cell: (member) => <Name of={member} />,
    },
    {
      title: column.state,
      cell: (member) => (
        <>
          <StateMark of={member} />
          {member.id === servedBy && <span class="muted small few"> ({servesYou})</span>}
        </>
      ),
    },
    { title: column.version, look: 'mono', cell: ({ version }) => version },
    {
      title: column.started,
      narrowTitle: column.started,
      look: 'muted',
      cell: (member) => <Ago at={member.started_at} />,
    },
    {
      title: column.link,
      narrowTitle: column.link,
      look: 'muted',
      cell: (member) => <Ago at={member.linked_since} />,
    },
    // Of one without a link the owner does not know how many it has.
    { title: column.agents, look: 'n', cell: (member) => count(agentsOf(member)) },
    { title: column.waiting, look: 'n', cell: ({ counts }) => count(counts?.waiting) },
    { title: column.absorbed, look: 'n', cell: ({ counts }) => count(counts?.absorbed) },
    { title: column.forwarded, look: 'n', cell: ({ counts }) => count(counts?.forwarded) },
    { title: column.replayed, look: 'n', cell: ({ counts }) => count(counts?.replayed) },
  ]
}

/** What is not as it should be, each in one sentence. */
function Troubles({ members }: { members: readonly ClusterMember[] }) {
  const words = say(clusterTexts)
  const tellOf = (
    sentence: (names: string, count: number) => string,
    isMeant: (member: ClusterMember) => boolean,
  ) => {
    const meant = members.filter(isMeant)
    return meant.length > 0 && sentence(formatList(meant.map(nameOf)), meant.length)
  }
  const isIn = (state: MemberState) => (member: ClusterMember) => memberState(member) === state
  const isSilent = isIn('silent')
  const named = (address: string) => {
    const there = members.find((member) => member.address === address)
    return there === undefined ? address : nameOf(there)
  }
  const versions = versionsOf(members)
  const sentences = [
    tellOf(words.missing, (member) => isSilent(member) && member.agents > 0),
    tellOf(words.missingWithout, (member) => isSilent(member) && member.agents === 0),
    tellOf(words.unlinked, isIn('unlinked')),
    ...members
      .filter(({ waits_for }) => waits_for.length > 0)
      .map((member) =>
        words.waits(nameOf(member), formatList(member.waits_for.map(named)), member.waits_for.length),
      ),
    versions.length > 1 && words.versions(formatList(versions)),
  ].filter((sentence) => sentence !== false)
  if (sentences.length === 0) return null
  return (
    <div class="notice t-warn" role="status">
      <div>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
    </div>
  )
}

function Processes({ of }: { of: Cluster }) {
  const words = say(clusterTexts)
  const { members, agents } = of
  const owner = members.find((one) => one.is_owner)
  return (
    <>
      <p class="muted">{words.lead}</p>
      <Troubles members={members} />
      <Pairs
        of={[
          [words.owner, owner ? <Name of={owner} /> : '–'],
          [words.since, <Ago at={of.owned_since} />],
          [words.takeovers, words.takeoversSeen(of.takeovers)],
          [words.agents, words.places(agents.websocket, agents.polling, agents.awaited)],
        ]}
      />
      <Table label={words.list} columns={columns(of.served_by)} rows={members} keyOf={({ id }) => id} />
      <Departed of={of.departed} />
      <Legend />
    </>
  )
}

/** The processes that serve this fleet, who decides, and what each carries. */
export function ProcessesSection() {
  const cluster = useResource('cluster', (abort) => api.cluster(abort))
  usePolling(true, cluster.reload, POLL_MS)
  // Each call may be answered by another one, as the load balancer likes: the first is told for as long as it is there.
  const first = useRef<string | null>(null)
  const { data } = cluster
  if (data && !data.members.some(({ id }) => id === first.current)) first.current = data.served_by
  return (
    <Loaded of={cluster}>
      {(found) =>
        found.is_one_of_several ? (
          <Processes of={{ ...found, served_by: first.current }} />
        ) : (
          <p class="empty">{say(clusterTexts).alone}</p>
        )
      }
    </Loaded>
  )
}
